import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { showError } from '../ui/toasts.tsx';
import type { CallInput, OperationName, ResponseOf } from './studio-client.ts';
import { useStudio } from './studio-context.ts';

interface MutationOptions<Name extends OperationName> {
  /** Operations whose cached responses become stale. */
  readonly invalidates?: readonly OperationName[];
  readonly onSuccess?: (response: ResponseOf<Name>, input: CallInput<Name>) => void;
  /** Handles an error; by default a toast shows it until the operation succeeds. */
  readonly onError?: (error: unknown) => void;
  /** The target of a call: calls with different targets may overlap. */
  readonly targetOf?: (input: CallInput<Name>) => string;
}

/** A call, with the callbacks of the render in which it was made. */
interface Call<Name extends OperationName> {
  readonly input: CallInput<Name>;
  readonly onSuccess: MutationOptions<Name>['onSuccess'] | undefined;
  readonly onError: MutationOptions<Name>['onError'] | undefined;
}

/**
 * Mutates by an operation. A second call for the same target is ignored while the first is pending.
 */
export function useApiMutation<Name extends OperationName>(
  name: Name,
  options: MutationOptions<Name> = {},
) {
  const { invalidates = [], onSuccess, onError, targetOf = () => '' } = options;
  const studio = useStudio();
  const queries = useQueryClient();
  const pendingTargets = useRef(new Set<string>());
  const closeError = useRef(() => {});
  const { mutate: run, isPending } = useMutation({
    // No queueing while offline: the client decides when to give up.
    networkMode: 'always',
    mutationFn: ({ input }: Call<Name>) => studio.call(name, input),
    // Those of the call: a page may have rendered with other ones since, while another question is open.
    onSuccess: async (response, { input, onSuccess }) => {
      await Promise.all(
        invalidates.map((operation) => queries.invalidateQueries({ queryKey: [operation] })),
      );
      // An error that a later call made good is no longer the state.
      closeError.current();
      onSuccess?.(response, input);
    },
    onError: (error, { onError }) => {
      if (onError) onError(error);
      else closeError.current = showError(error);
    },
    onSettled: (_, __, { input }) => pendingTargets.current.delete(targetOf(input)),
  });
  const mutate = (input: CallInput<Name> = {}) => {
    const target = targetOf(input);
    if (pendingTargets.current.has(target)) return;
    pendingTargets.current.add(target);
    run({ input, onSuccess, onError });
  };
  return { mutate, isPending };
}
