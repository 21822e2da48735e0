import { useInfiniteQuery } from '@tanstack/react-query';
import type { Deliveries } from '../../protocol/webhooks.ts';
import { useStudio } from '../api/studio-context.ts';
import { queryKeyOf, shouldRetry } from '../api/use-api-query.ts';

const PAGE_SIZE = 25;
/** Polling interval; longer with several pages, since all of them are read. */
const POLL_MS = 2_000;
const POLL_ALL_MS = 10_000;

/** The deliveries of a webhook, page by page. */
export function useDeliveries(webhookId: string) {
  const studio = useStudio();
  const params = { webhook_id: webhookId };
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: queryKeyOf('listDeliveries', { params }),
      initialPageParam: null as string | null,
      getNextPageParam: ({ next }: Deliveries) => next,
      refetchInterval: ({ state }) => ((state.data?.pages.length ?? 1) > 1 ? POLL_ALL_MS : POLL_MS),
      retry: shouldRetry,
      queryFn: ({ pageParam, signal }) =>
        studio.call('listDeliveries', {
          params,
          query: { limit: PAGE_SIZE, ...(pageParam !== null && { before: pageParam }) },
          signal,
        }),
    });
  // New deliveries shift others to the next page, so pages may overlap.
  const all = (data?.pages ?? []).flatMap(({ results }) => results);
  const deliveries = new Map(all.map((delivery) => [delivery.id, delivery]));
  return {
    deliveries: [...deliveries.values()],
    isEmpty: data !== undefined && deliveries.size === 0,
    error,
    isPending,
    hasMore: hasNextPage,
    isFetchingMore: isFetchingNextPage,
    fetchMore: () => void fetchNextPage(),
    retry: () => void refetch(),
  };
}
