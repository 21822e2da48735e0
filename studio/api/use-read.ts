import { useQuery } from '@tanstack/react-query';
import type { CallInput, OperationName, ReplyOf } from './studio-client.ts';
import { useStudio } from './studio-context.ts';
import { StudioProblem } from './studio-problem.ts';

interface ReadOptions<Name extends OperationName> {
  /** Asked for again so often, ms, or by what was read last; false: never, as by default. */
  readonly againMs?: number | ((read: ReplyOf<Name> | undefined) => number | false);
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
  { againMs = () => false }: ReadOptions<Name> = {},
) {
  const studio = useStudio();
  return useQuery({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => studio.call(name, { ...input, signal }),
    refetchInterval: ({ state }) => (typeof againMs === 'number' ? againMs : againMs(state.data)),
    retry: mayPass,
  });
}
