import type { ChatKind } from '../../sdk/types.ts';
import type { SnapshotMessage } from './chat-items.ts';

/** A message of this viewer that the feed has not shown yet: the video may be seconds behind. */
export interface OwnMessage {
  readonly id: string;
  readonly kind: ChatKind;
  readonly name: string;
  readonly text: string;
  /** Ids of the messages that were on screen when this one was sent. */
  readonly earlierIds: ReadonlySet<string>;
  /** By `performance.now()`. */
  readonly sentMs: number;
}

/** @returns the own messages that are not on screen yet: when that is all, the same array */
export function pendingMessages(
  own: readonly OwnMessage[],
  messages: readonly SnapshotMessage[],
): readonly OwnMessage[] {
  const pending = own.filter((mine) => !messages.some((message) => isSame(message, mine)));
  return pending.length === own.length ? own : pending;
}

/** Compares the content: the page does not know the service's id of this viewer. */
function isSame(message: SnapshotMessage, own: OwnMessage): boolean {
  return (
    message.text === own.text &&
    message.kind === own.kind &&
    message.name === own.name &&
    !own.earlierIds.has(message.id)
  );
}
