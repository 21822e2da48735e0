import { texts } from '../texts.ts';
import type { SnapshotMessage } from './chat-items.ts';

/** Up to this number messages are read out; of more, only their number is. */
const READ_OUT_MAX = 3;

/** @returns the items after the one with this id; all of them when it is not in the list */
export function itemsAfter<T extends { readonly id: string }>(
  items: readonly T[],
  id: string | null,
): readonly T[] {
  return items.slice(items.findIndex((item) => item.id === id) + 1);
}

/** @returns what a screen reader announces for new messages; null: nothing */
export function chatAnnouncement(messages: readonly SnapshotMessage[]): string | null {
  if (messages.length === 0) return null;
  if (messages.length <= READ_OUT_MAX) return messages.map(readOut).join(' ');
  const questions = messages.filter(({ kind }) => kind === 'question').length;
  const { many, manyWithQuestions } = texts.chatAnnouncements;
  return questions === 0 ? many(messages.length) : manyWithQuestions(messages.length, questions);
}

function readOut({ kind, name, text }: SnapshotMessage): string {
  return texts.chatAnnouncements[kind](name || texts.chatAnnouncements.anonymous, text);
}
