import { useQuery } from '@tanstack/react-query';
import type { CallInput, OperationName } from './studio-client.ts';
import { useStudio } from './studio-context.ts';
import { StudioProblem } from './studio-problem.ts';

interface ReadOptions {
  /** Asked for again so often, ms; never by default. */
  readonly againMs?: number;
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
  { againMs }: ReadOptions = {},
) {
  const studio = useStudio();
  return useQuery({
    queryKey: keyOf(name, input),
    queryFn: ({ signal }) => studio.call(name, { ...input, signal }),
    refetchInterval: againMs ?? false,
    retry: mayPass,
  });
}
