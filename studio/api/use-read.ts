import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { CallInput, OperationName, ReplyOf } from './studio-client.ts';
import { useStudio } from './studio-context.ts';
import { StudioProblem } from './studio-problem.ts';

interface ReadOptions<Name extends OperationName> {
  /** Asked for again so often, ms, or by what was read last; false: never, as by default. */
  readonly againMs?: number | ((read: ReplyOf<Name> | undefined) => number | false);
  /** Asked for again when this is another. */
  readonly revision?: number | undefined;
}

/** Whether a reading that failed is tried again by itself. */
export function mayPass(failures: number, error: Error): boolean {
  return failures < 3 && error instanceof StudioProblem && error.isPassing;
}

/** What the cache knows a reading by. */
export function keyOf<Name extends OperationName>(name: Name, input: CallInput<Name> = {}) {
  return [name, input.params ?? {}, input.query ?? {}] as const;
}

/** Reads by an operation, and keeps what was read. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: CallInput<Name> = {},
  { againMs = () => false, revision }: ReadOptions<Name> = {},
) {
  const studio = useStudio();
  const queries = useQueryClient();
  const key = useRef(keyOf(name, input));
  key.current = keyOf(name, input);
  const readAt = useRef(revision);
  useEffect(() => {
    if (readAt.current === revision) return;
    readAt.current = revision;
    void queries.invalidateQueries({ queryKey: key.current });
  }, [revision, queries]);
  return useQuery({
    queryKey: key.current,
    queryFn: ({ signal }) => studio.call(name, { ...input, signal }),
    refetchInterval: ({ state }) => (typeof againMs === 'number' ? againMs : againMs(state.data)),
    retry: mayPass,
  });
}
