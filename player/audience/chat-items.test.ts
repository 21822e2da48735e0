import { describe, expect, test } from 'bun:test';
import { mergeMessages, messagesOf } from '../../sdk/chat.ts';
import type { Snapshot } from '../../sdk/viewer.ts';
import { NO_CHATS } from '../../test/support/chat/chat-messages.ts';
import {
  type ChatTimeline,
  newTimeline,
  type SnapshotMessage,
  timelineItems,
  updateTimeline,
} from './chat-items.ts';

const message = (number: number): SnapshotMessage => ({
  id: `message ${number}`,
  viewer: 'viewer',
  name: 'Ada',
  text: 'hello',
  at: number,
  kind: 'message',
});
const messagesTo = (last: number, first = 1): SnapshotMessage[] =>
  Array.from({ length: last - first + 1 }, (_, index) => message(first + index));

function timelineAfter(...snapshots: readonly Pick<Snapshot, 'messages' | 'discounts'>[]) {
  const [first, ...others] = snapshots as readonly Snapshot[];
  return others.reduce(updateTimeline, newTimeline(first as Snapshot));
}
/** The ids of messages and the counts of discount cards. */
const summaryOf = (timeline: ChatTimeline) =>
  timelineItems(timeline).map((item) => (item.kind === 'discount' ? item.count : item.id));

describe('the chat timeline', () => {
  test('is the array of messages itself while there are no discounts', () => {
    const messages = messagesTo(3);
    expect(timelineItems(timelineAfter({ messages, discounts: 0 }))).toBe(messages);
  });

  test('has a discount card before the messages that came later', () => {
    const timeline = timelineAfter(
      { messages: messagesTo(2), discounts: 0 },
      { messages: messagesTo(2), discounts: 5 },
      { messages: messagesTo(3), discounts: 5 },
    );
    expect(summaryOf(timeline)).toEqual(['message 1', 'message 2', 5, 'message 3']);
  });

  test('has one card for consecutive discounts, and two when a message is between them', () => {
    const timeline = timelineAfter(
      { messages: messagesTo(1), discounts: 0 },
      { messages: messagesTo(1), discounts: 5 },
      { messages: messagesTo(1), discounts: 7 },
      { messages: messagesTo(2), discounts: 7 },
      { messages: messagesTo(2), discounts: 8 },
    );
    expect(summaryOf(timeline)).toEqual(['message 1', 7, 'message 2', 1]);
  });

  test('has no card for discounts before the page was opened', () => {
    expect(summaryOf(timelineAfter({ messages: messagesTo(1), discounts: 90 }))).toEqual([
      'message 1',
    ]);
  });

  test('begins with a card when discounts came before the first message', () => {
    const timeline = timelineAfter(
      { messages: [], discounts: 0 },
      { messages: [], discounts: 3 },
      { messages: messagesTo(1), discounts: 3 },
    );
    expect(summaryOf(timeline)).toEqual([3, 'message 1']);
  });

  test('drops a card with the message before it, so that it is bounded', () => {
    const timeline = timelineAfter(
      { messages: [], discounts: 0 },
      { messages: [], discounts: 1 },
      { messages: messagesTo(1), discounts: 2 },
      { messages: messagesTo(101, 2), discounts: 3 },
    );
    expect(summaryOf(timeline)).toEqual([...messagesTo(101, 2).map(({ id }) => id), 1]);
  });

  test('keeps a card before all messages until the snapshot is full', () => {
    const full = mergeMessages([], messagesOf({ ...NO_CHATS, messages: messagesTo(1_000) }));
    const empty = { messages: [], discounts: 0 };
    const summaryWith = (messages: Snapshot['messages']) =>
      summaryOf(timelineAfter(empty, { messages: [], discounts: 1 }, { messages, discounts: 1 }));
    expect(summaryWith(full.slice(1))[0]).toBe(1);
    expect(summaryWith(full)).toEqual(full.map(({ id }) => id));
  });

  test('is the same object when something else of the snapshot changed', () => {
    const timeline = timelineAfter({ messages: messagesTo(1), discounts: 1 });
    const { messages } = timeline;
    expect(updateTimeline(timeline, { messages, discounts: 1 } as Snapshot)).toBe(timeline);
  });
});
