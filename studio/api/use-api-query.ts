import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { StudioApiError } from './studio-api-error.ts';
import type { CallInput, OperationName, ResponseOf } from './studio-client.ts';
import { useStudio } from './studio-context.ts';

interface QueryOptions<Name extends OperationName> {
  /** Polling interval, or a function of the last response; false: no polling (default). */
  readonly refetchIntervalMs?:
    | number
    | ((response: ResponseOf<Name> | undefined) => number | false);
  /** Refetches when this changes. */
  readonly revision?: number | undefined;
  /** Shortest time between two such refetches, plus up to a fifth of it; 0 by default. */
  readonly revisionPauseMs?: number;
}

/**
 * For what viewers change: during a raid or a sale such a revision changes twice a second. Without a pause, 8 open
 * pages used up the 1,200 requests a minute of their account, and nobody could publish a quiz or end the show.
 */
export const CROWD_PAUSE_MS = 5_000;

/** Whether a failed query is retried automatically. */
export function shouldRetry(failures: number, error: Error): boolean {
  return failures < 3 && error instanceof StudioApiError && error.isTransient;
}

export function queryKeyOf<Name extends OperationName>(name: Name, input: CallInput<Name> = {}) {
  return [name, input.params ?? {}, input.query ?? {}] as const;
}

/** Queries an operation, with caching. */
export function useApiQuery<Name extends OperationName>(
  name: Name,
  input: CallInput<Name> = {},
  { refetchIntervalMs = () => false, revision, revisionPauseMs = 0 }: QueryOptions<Name> = {},
) {
  const studio = useStudio();
  const queries = useQueryClient();
  const key = useRef(queryKeyOf(name, input));
  key.current = queryKeyOf(name, input);
  const fetchedRevision = useRef(revision);
  const nextFetchMs = useRef(0);
  useEffect(() => {
    if (fetchedRevision.current === revision) return;
    const fetchNow = () => {
      fetchedRevision.current = revision;
      nextFetchMs.current = performance.now() + revisionPauseMs * (1 + Math.random() / 5);
      void queries.invalidateQueries({ queryKey: key.current });
    };
    const timer = setTimeout(fetchNow, nextFetchMs.current - performance.now());
    return () => clearTimeout(timer);
  }, [revision, revisionPauseMs, queries]);
  return useQuery({
    queryKey: key.current,
    queryFn: ({ signal }) => studio.call(name, { ...input, signal }),
    refetchInterval: ({ state }) =>
      typeof refetchIntervalMs === 'number' ? refetchIntervalMs : refetchIntervalMs(state.data),
    retry: shouldRetry,
  });
}
