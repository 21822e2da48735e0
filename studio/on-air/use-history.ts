import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import {
  type ChatLog,
  HISTORY_INTERVALS,
  type LoggedLine,
  type SentLog,
} from '../../protocol/history.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { PAGE_SIZE_MAX } from '../../protocol/limits.ts';
import type { LineKind } from '../../protocol/moderation.ts';
import { useStudio } from '../api/studio-context.ts';
import { keyOf, mayPass } from '../api/use-read.ts';
import type { CountAt, SentEvent } from './show-record.ts';

/** Calls for the counts of half an hour. */
const AUDIENCE_CALLS = 3;
/** Calls that may find nothing before the page says so, and can be asked again. */
const LOG_CALLS = 12;
const LOG_EVENTS = 50;

/** What was is not another later. */
const ONCE = { staleTime: Number.POSITIVE_INFINITY, retry: mayPass } as const;

/** The counts of the half hour before an interval. */
export function useEarlierCounts(streamId: string, before: number | null): readonly CountAt[] {
  const studio = useStudio();
  const { data = NO_COUNTS } = useQuery({
    ...ONCE,
    queryKey: [...keyOf('readAudience', { params: { stream_id: streamId } }), before],
    enabled: before !== null,
    queryFn: async ({ signal }) => {
      const ends = Array.from(
        { length: AUDIENCE_CALLS },
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

/** What was sent before an interval, page by page; `sent` has the newest first. */
export function useEarlierSent(streamId: string, before: number | null) {
  const studio = useStudio();
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...ONCE,
    queryKey: [...keyOf('readSentLog', { params: { stream_id: streamId } }), before],
    enabled: before !== null,
    initialPageParam: before,
    getNextPageParam: ({ next }: SentLog) => next,
    queryFn: ({ pageParam, signal }) =>
      firstWithAny(pageParam ?? 0, (at) =>
        studio.call('readSentLog', {
          params: { stream_id: streamId },
          query: { before: at, limit: LOG_EVENTS },
          signal,
        }),
      ),
  });
  const sent = (data?.pages ?? [])
    .flatMap(({ results }) => results)
    .map(
      ({ interval, ...event }, place): SentEvent => ({
        id: `earlier-${place}`,
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

/** Lines before an interval, page by page, the newest first; of one kind, or of all. */
export function useEarlierLines(
  streamId: string,
  before: number | null,
  kind: LineKind | null,
): EarlierLines {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const ofKind = kind === null ? {} : { kind };
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery({
    ...ONCE,
    queryKey: [...keyOf('readChatLog', { params, query: ofKind }), before],
    enabled: before !== null,
    initialPageParam: before,
    getNextPageParam: ({ next }: ChatLog) => next,
    // What is hidden in them later is told as it happens; nobody else may change pages.
    structuralSharing: false,
    queryFn: ({ pageParam, signal }) =>
      firstWithAny(pageParam ?? 0, (at) =>
        studio.call('readChatLog', {
          params,
          query: { before: at, limit: PAGE_SIZE_MAX, ...ofKind },
          signal,
        }),
      ),
  });
  return {
    lines: useMemo(() => data?.pages.flatMap(({ results }) => results) ?? NO_LINES, [data]),
    isMore: hasNextPage || isError,
    isFetching,
    isError,
    fetchMore: () => void fetchNextPage(),
  };
}

export interface EarlierLines {
  readonly lines: readonly LoggedLine[];
  /** There may be lines before them. */
  readonly isMore: boolean;
  readonly isFetching: boolean;
  /** They could not be had, and can be asked for again. */
  readonly isError: boolean;
  readonly fetchMore: () => void;
}

const NO_LINES: readonly LoggedLine[] = [];

/** The last purchases before an interval, the newest first. */
export function useEarlierPurchases(
  streamId: string,
  before: number | null,
): readonly LoggedLine[] {
  const studio = useStudio();
  const params = { stream_id: streamId };
  const { data = NO_LINES } = useQuery({
    ...ONCE,
    queryKey: [...keyOf('readChatLog', { params, query: { kind: 'purchase' } }), before],
    enabled: before !== null,
    queryFn: async ({ signal }) => {
      const { results } = await firstWithAny(before ?? 0, (at) =>
        studio.call('readChatLog', {
          params,
          query: { before: at, limit: LOG_EVENTS, kind: 'purchase' },
          signal,
        }),
      );
      return results;
    },
  });
  return data;
}

/** The first page that has something in it, of so many that are looked at in one go. */
async function firstWithAny<
  Page extends { readonly results: unknown[]; readonly next: number | null },
>(before: number, read: (before: number) => Promise<Page>): Promise<Page> {
  let page = await read(before);
  for (let calls = 1; calls < LOG_CALLS; calls++) {
    if (page.results.length > 0 || page.next === null) break;
    page = await read(page.next);
  }
  return page;
}
