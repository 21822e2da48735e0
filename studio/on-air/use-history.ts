import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type ChatLog,
  HISTORY_INTERVALS,
  type LoggedMessage,
  type SentLog,
} from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { PAGE_SIZE_MAX } from '../../protocol/limits.ts';
import type { MessageKind } from '../../protocol/moderation.ts';
import { useStudio } from '../api/studio-context.ts';
import { queryKeyOf, shouldRetry } from '../api/use-api-query.ts';
import type { CountAt, SentEvent } from './show-log.ts';

/** Requests for the counts of half an hour. */
const AUDIENCE_REQUESTS = 3;
/** Empty pages that one load skips at most. */
const EMPTY_PAGES_MAX = 12;
const EVENTS_PER_PAGE = 50;

/** History does not change. */
const IMMUTABLE = { staleTime: Number.POSITIVE_INFINITY, retry: shouldRetry } as const;

/** The audience of the half hour before an interval. */
export function useEarlierCounts(streamId: string, before: number | null): readonly CountAt[] {
  const studio = useStudio();
  const { data = NO_COUNTS } = useQuery({
    ...IMMUTABLE,
    queryKey: [...queryKeyOf('readAudience', { params: { stream_id: streamId } }), before],
    enabled: before !== null,
    queryFn: async ({ signal }) => {
      const ends = Array.from(
        { length: AUDIENCE_REQUESTS },
        (_, n) => (before ?? 0) - 1 - n * HISTORY_INTERVALS,
      );
      const parts = await Promise.all(
        ends
          .reverse()
          .map((to) =>
            studio.call('readAudience', { params: { stream_id: streamId }, query: { to }, signal }),
          ),
      );
      return parts
        .flatMap(({ results }) => results)
        .map(({ interval, count }): CountAt => ({ atMs: intervalStartMs(interval), count }));
    },
  });
  return data;
}

const NO_COUNTS: readonly CountAt[] = [];

/** Events before an interval, page by page; `sent` has the newest first. */
export function useEarlierSent(streamId: string, before: number | null) {
  const studio = useStudio();
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...IMMUTABLE,
    queryKey: [...queryKeyOf('readSentLog', { params: { stream_id: streamId } }), before],
    enabled: before !== null,
    initialPageParam: before,
    getNextPageParam: ({ next }: SentLog) => next,
    queryFn: ({ pageParam, signal }) =>
      firstNonEmpty(pageParam ?? 0, (at) =>
        studio.call('readSentLog', {
          params: { stream_id: streamId },
          query: { before: at, limit: EVENTS_PER_PAGE },
          signal,
        }),
      ),
  });
  const sent = (data?.pages ?? [])
    .flatMap(({ results }) => results)
    .map(
      ({ interval, ...event }, index): SentEvent => ({
        id: `earlier-${index}`,
        interval,
        atMs: intervalStartMs(interval),
        event,
      }),
    );
  return {
    sent,
    isMore: hasNextPage || isError,
    isFetching,
    fetchMore: () => void fetchNextPage(),
  };
}

/**
 * Chat messages before an interval, page by page, newest first.
 * @param kind only this kind; null: all
 */
export function useEarlierMessages(
  streamId: string,
  before: number | null,
  kind: MessageKind | null,
): EarlierMessages {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const kindQuery = kind === null ? {} : { kind };
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...IMMUTABLE,
    queryKey: [...queryKeyOf('readChatLog', { params, query: kindQuery }), before],
    enabled: before !== null,
    initialPageParam: before,
    getNextPageParam: ({ next }: ChatLog) => next,
    // Pages never change: later changes, such as hidden messages, arrive as events.
    structuralSharing: false,
    queryFn: ({ pageParam, signal }) =>
      firstNonEmpty(pageParam ?? 0, (at) =>
        studio.call('readChatLog', {
          params,
          query: { before: at, limit: PAGE_SIZE_MAX, ...kindQuery },
          signal,
        }),
      ),
  });
  return {
    messages: useMemo(() => data?.pages.flatMap(({ results }) => results) ?? NO_MESSAGES, [data]),
    isMore: hasNextPage || isError,
    isFetching,
    isError,
    fetchMore: () => void fetchNextPage(),
  };
}

export interface EarlierMessages {
  readonly messages: readonly LoggedMessage[];
  /** Earlier messages may exist. */
  readonly isMore: boolean;
  readonly isFetching: boolean;
  /** Loading failed and can be retried. */
  readonly isError: boolean;
  readonly fetchMore: () => void;
}

const NO_MESSAGES: readonly LoggedMessage[] = [];

/** The last purchases before an interval, newest first. */
export function useEarlierPurchases(
  streamId: string,
  before: number | null,
): readonly LoggedMessage[] {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const { data = NO_MESSAGES } = useQuery({
    ...IMMUTABLE,
    queryKey: [...queryKeyOf('readChatLog', { params, query: { kind: 'purchase' } }), before],
    enabled: before !== null,
    queryFn: async ({ signal }) => {
      const { results } = await firstNonEmpty(before ?? 0, (at) =>
        studio.call('readChatLog', {
          params,
          query: { before: at, limit: EVENTS_PER_PAGE, kind: 'purchase' },
          signal,
        }),
      );
      return results;
    },
  });
  return data;
}

/** The first non-empty page. */
async function firstNonEmpty<
  Page extends { readonly results: unknown[]; readonly next: number | null },
>(before: number, read: (before: number) => Promise<Page>): Promise<Page> {
  let page = await read(before);
  for (let pages = 1; pages < EMPTY_PAGES_MAX; pages++) {
    if (page.results.length > 0 || page.next === null) break;
    page = await read(page.next);
  }
  return page;
}
