import type { ChatKind } from '../../sdk/types.ts';
import type { SnapshotMessage } from './chat-items.ts';

/** A message of this viewer that the feed has not shown yet: the video may be seconds behind. */
export interface PendingMessage {
  readonly id: string;
  readonly kind: ChatKind;
  readonly name: string;
  readonly text: string;
  /** Ids of the messages that were on screen when this one was sent. */
  readonly earlierIds: ReadonlySet<string>;
  /** By `performance.now()`. */
  readonly sentMs: number;
}

/** @returns the messages that are still not on screen; the same array when these are all */
export function stillPending(
  pending: readonly PendingMessage[],
  messages: readonly SnapshotMessage[],
): readonly PendingMessage[] {
  const still = pending.filter((sent) => !messages.some((message) => isSame(message, sent)));
  return still.length === pending.length ? pending : still;
}

/** Compares the content: the page does not know the service's id of this viewer. */
function isSame(message: SnapshotMessage, sent: PendingMessage): boolean {
  return (
    message.text === sent.text &&
    message.kind === sent.kind &&
    message.name === sent.name &&
    !sent.earlierIds.has(message.id)
  );
}
