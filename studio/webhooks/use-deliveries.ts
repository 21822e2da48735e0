import { useInfiniteQuery } from '@tanstack/react-query';
import type { Deliveries, Delivery } from '../../protocol/webhooks.ts';
import { useStudio } from '../api/studio-context.ts';
import { keyOf, mayPass } from '../api/use-read.ts';

const PAGE = 25;
/** How often the first page is read again; with more of them it is more seldom, since all are. */
const AGAIN_MS = 2_000;
const AGAIN_MORE_MS = 10_000;

/** What a webhook was told, page by page. */
export function useDeliveries(webhookId: string) {
  const studio = useStudio();
  const params = { webhook_id: webhookId };
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: keyOf('listDeliveries', { params }),
      initialPageParam: null as string | null,
      getNextPageParam: ({ next }: Deliveries) => next,
      refetchInterval: ({ state }) =>
        (state.data?.pages.length ?? 1) > 1 ? AGAIN_MORE_MS : AGAIN_MS,
      retry: mayPass,
      queryFn: ({ pageParam, signal }) =>
        studio.call('listDeliveries', {
          params,
          query: { limit: PAGE, ...(pageParam !== null && { before: pageParam }) },
          signal,
        }),
    });
  // What came since the pages were read moves one from the end of a page to the begin of the next.
  const deliveries = new Map<string, Delivery>(
    (data?.pages ?? []).flatMap(({ results }) => results.map((one) => [one.id, one] as const)),
  );
  return {
    deliveries: [...deliveries.values()],
    isEmpty: data !== undefined && deliveries.size === 0,
    error,
    isPending,
    isMore: hasNextPage,
    isFetchingMore: isFetchingNextPage,
    fetchMore: () => void fetchNextPage(),
    again: () => void refetch(),
  };
}
