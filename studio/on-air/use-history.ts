import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { LoggedMessage } from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { HISTORY_INTERVALS, type MessageKind, PAGE_SIZE_MAX } from '../../protocol/limits.ts';
import { useStudio } from '../api/studio-context.ts';
import { queryKeyOf, shouldRetry } from '../api/use-api-query.ts';
import type { CountAt, SentEvent } from './show-log.ts';

/** Requests for half an hour of counts, each for `HISTORY_INTERVALS`. */
const AUDIENCE_REQUESTS = 3;
/** Pages that one load reads at most when they are empty. */
const EMPTY_PAGES_MAX = 12;
const EVENTS_PER_PAGE = 50;

/** History does not change. */
const IMMUTABLE = { staleTime: Number.POSITIVE_INFINITY, retry: shouldRetry } as const;

/** The audience of the half hour before an interval. */
export function useEarlierCounts(streamId: string, before: number | null): readonly CountAt[] {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const { data = NO_COUNTS } = useQuery({
    ...IMMUTABLE,
    queryKey: [...queryKeyOf('readAudience', { params }), before],
    enabled: before !== null,
    queryFn: async ({ signal }) => {
      const ends = Array.from(
        { length: AUDIENCE_REQUESTS },
        (_, n) => (before ?? 0) - 1 - n * HISTORY_INTERVALS,
      );
      const parts = await Promise.all(
        ends.reverse().map((to) => studio.call('readAudience', { params, query: { to }, signal })),
      );
      return parts
        .flatMap(({ results }) => results)
        .map(({ interval, count }): CountAt => ({ atMs: intervalStartMs(interval), count }));
    },
  });
  return data;
}

const NO_COUNTS: readonly CountAt[] = [];

interface LogPage {
  readonly results: readonly unknown[];
  /** Where the next page ends; null: this is the last page. */
  readonly next: number | null;
}

/** The pages of a log before an interval, newest first. */
function useLogPages<Page extends LogPage>(
  key: readonly unknown[],
  before: number | null,
  read: (before: number, signal: AbortSignal) => Promise<Page>,
) {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...IMMUTABLE,
    queryKey: [...key, before],
    enabled: before !== null,
    initialPageParam: before,
    getNextPageParam: ({ next }: Page) => next,
    // Pages never change: later changes, such as hidden messages, arrive as events.
    structuralSharing: false,
    queryFn: ({ pageParam, signal }) => firstNonEmpty(pageParam ?? 0, (at) => read(at, signal)),
  });
  return {
    pages: data?.pages,
    /** More pages may exist. */
    hasMore: hasNextPage || isError,
    isFetching,
    /** Loading failed and can be retried. */
    isError,
    fetchMore: () => void fetchNextPage(),
  };
}

async function firstNonEmpty<Page extends LogPage>(
  before: number,
  read: (before: number) => Promise<Page>,
): Promise<Page> {
  let page = await read(before);
  for (let pages = 1; pages < EMPTY_PAGES_MAX; pages++) {
    if (page.results.length > 0 || page.next === null) break;
    page = await read(page.next);
  }
  return page;
}

/** Events before an interval, page by page; `sent` has the newest first. */
export function useEarlierSent(streamId: string, before: number | null) {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const key = queryKeyOf('readSentLog', { params });
  const { pages = [], ...log } = useLogPages(key, before, (at, signal) =>
    studio.call('readSentLog', { params, query: { before: at, limit: EVENTS_PER_PAGE }, signal }),
  );
  const sent = pages
    .flatMap(({ results }) => results)
    .map(
      ({ interval, ...event }, index): SentEvent => ({
        id: `earlier-${index}`,
        interval,
        atMs: intervalStartMs(interval),
        event,
      }),
    );
  return { sent, ...log };
}

interface ChatQuery {
  readonly limit: number;
  readonly kind?: MessageKind;
}

function useChatPages(streamId: string, before: number | null, query: ChatQuery) {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const key = queryKeyOf('readChatLog', { params, query: { ...query } });
  return useLogPages(key, before, (at, signal) =>
    studio.call('readChatLog', { params, query: { ...query, before: at }, signal }),
  );
}

const NO_MESSAGES: readonly LoggedMessage[] = [];

/**
 * Chat messages before an interval, page by page, newest first.
 * @param kind only this kind; null: all
 */
export function useEarlierMessages(
  streamId: string,
  before: number | null,
  kind: MessageKind | null,
) {
  const query = { limit: PAGE_SIZE_MAX, ...(kind !== null && { kind }) };
  const { pages, ...log } = useChatPages(streamId, before, query);
  const messages = useMemo(() => pages?.flatMap(({ results }) => results) ?? NO_MESSAGES, [pages]);
  return { messages, ...log };
}

/** The last purchases before an interval, newest first. */
export function useEarlierPurchases(streamId: string, before: number | null) {
  const { pages } = useChatPages(streamId, before, { limit: EVENTS_PER_PAGE, kind: 'purchase' });
  return pages?.[0]?.results ?? NO_MESSAGES;
}
