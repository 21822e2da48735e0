import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { tellFailure } from '../ui/toasts.tsx';
import { newKey } from './real-browser.ts';
import type { CallInput, OperationName, ReplyOf } from './studio-client.ts';
import { useStudio } from './studio-context.ts';

interface WriteOptions<Name extends OperationName> {
  /** Readings that are old after it. */
  readonly stale?: readonly OperationName[];
  readonly onDone?: (reply: ReplyOf<Name>, input: CallInput<Name>) => void;
  /** Says what went wrong; a message at the edge of the page by default. */
  readonly onFailure?: (error: unknown) => void;
  /** What is written to: writes to different things do not wait for each other. */
  readonly placeOf?: (input: CallInput<Name>) => string;
}

/**
 * Writes by an operation. What is pressed twice while the first is under way is sent once; the key
 * that names a write is the same until its outcome is known.
 */
export function useWrite<Name extends OperationName>(
  name: Name,
  { stale = [], onDone, onFailure = tellFailure, placeOf = () => '' }: WriteOptions<Name> = {},
) {
  const studio = useStudio();
  const queries = useQueryClient();
  const underWay = useRef(new Set<string>());
  const { mutate, isPending } = useMutation({
    // Nothing is kept to be sent at some later time: the client says when it gives up.
    networkMode: 'always',
    mutationFn: (input: CallInput<Name>) => studio.call(name, { key: newKey(), ...input }),
    onSuccess: async (reply, input) => {
      await Promise.all(stale.map((read) => queries.invalidateQueries({ queryKey: [read] })));
      onDone?.(reply, input);
    },
    onError: onFailure,
    onSettled: (_, __, input) => underWay.current.delete(placeOf(input)),
  });
  const write = (input: CallInput<Name> = {}) => {
    const place = placeOf(input);
    if (underWay.current.has(place)) return;
    underWay.current.add(place);
    mutate(input);
  };
  return { write, isPending };
}
