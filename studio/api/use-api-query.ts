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
}

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
  { refetchIntervalMs = () => false, revision }: QueryOptions<Name> = {},
) {
  const studio = useStudio();
  const queries = useQueryClient();
  const key = useRef(queryKeyOf(name, input));
  key.current = queryKeyOf(name, input);
  const fetchedRevision = useRef(revision);
  useEffect(() => {
    if (fetchedRevision.current === revision) return;
    fetchedRevision.current = revision;
    void queries.invalidateQueries({ queryKey: key.current });
  }, [revision, queries]);
  return useQuery({
    queryKey: key.current,
    queryFn: ({ signal }) => studio.call(name, { ...input, signal }),
    refetchInterval: ({ state }) =>
      typeof refetchIntervalMs === 'number' ? refetchIntervalMs : refetchIntervalMs(state.data),
    retry: shouldRetry,
  });
}
