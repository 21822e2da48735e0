import { HIDDEN_PER_CALL_MAX } from '../../../protocol/limits.ts';

interface SentMessage {
  readonly id: string;
  readonly viewer: string;
}

/**
 * The messages of a viewer, in groups that one call can hide.
 * @param messages all known messages; the same one may be among them twice
 */
export function idsOfViewer(viewer: string, messages: readonly SentMessage[]): string[][] {
  const own = messages.filter((message) => message.viewer === viewer);
  const ids = [...new Set(own.map(({ id }) => id))];
  return Array.from({ length: Math.ceil(ids.length / HIDDEN_PER_CALL_MAX) }, (_, group) =>
    ids.slice(group * HIDDEN_PER_CALL_MAX, (group + 1) * HIDDEN_PER_CALL_MAX),
  );
}
