import { describe, expect, test } from 'bun:test';
import type { Chats, FeedEvent } from '../../protocol/feed.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { NO_CHATS } from '../../test/support/chat/chat-messages.ts';
import { appendInterval, EMPTY_LOG, heartsPerMinute, type ShowLog } from './show-log.ts';

const messageOf = (id: string, at: number) => ({ id, viewer: 'v', name: 'Ann', text: 'Hi', at });
const chats = (part: Partial<Chats>): FeedEvent => ({
  type: 'chats',
  data: { ...NO_CHATS, ...part },
});
const logOf = (...all: [number, FeedEvent[]][]): ShowLog =>
  all.reduce((log, [interval, events]) => appendInterval(log, { interval, events }), EMPTY_LOG);

/** A log of intervals with this many messages each; their ids are "interval-index". */
function busyLog(intervals: number, perInterval: number): ShowLog {
  const messagesIn = (interval: number) =>
    Array.from({ length: perInterval }, (_, index) =>
      messageOf(`${interval}-${index}`, interval * perInterval + index),
    );
  const all = Array.from({ length: intervals }, (_, interval): [number, FeedEvent[]] => {
    return [interval, [chats({ messages: messagesIn(interval) })]];
  });
  return logOf(...all);
}

describe('ShowLog', () => {
  test('ignores duplicate and earlier intervals', () => {
    const log = logOf([8, [chats({ hearts: 3 })]]);
    expect(appendInterval(log, { interval: 8, events: [chats({ hearts: 3 })] })).toBe(log);
    expect(appendInterval(log, { interval: 7, events: [] })).toBe(log);
    expect(log.recentHearts.map(({ count }) => count)).toEqual([3]);
  });

  test('knows its first interval, before which history can be loaded', () => {
    expect(EMPTY_LOG.firstInterval).toBeNull();
    expect(logOf([8, []], [9, []]).firstInterval).toBe(8);
  });

  test('orders messages of all kinds by time', () => {
    const { messages } = logOf(
      [8, [chats({ cheers: [messageOf('b', 20)], questions: [messageOf('a', 10)] })]],
      [9, [chats({ purchases: [messageOf('c', 30)] })]],
    );
    const ordered = messages.map(({ id, kind }) => `${id} ${kind}`);
    expect(ordered).toEqual(['a question', 'b cheer', 'c purchase']);
  });

  test('gives counts the time of their interval', () => {
    const event: FeedEvent = { type: 'view-count', data: { value: 12, formatted: '12' } };
    expect(logOf([8, [event]]).counts).toEqual([{ atMs: intervalStartMs(8), count: 12 }]);
  });

  test('[B-8] lists purchases and discounts among the sent events', () => {
    const chatOnly = chats({ messages: [messageOf('a', 10)], hearts: 3 });
    const { sent } = logOf(
      [8, [chatOnly]],
      [9, [chats({ purchases: [messageOf('c', 30)] })]],
      [10, [chats({ discounts: 4 })]],
    );
    expect(sent.map(({ interval, event }) => [interval, event])).toEqual([
      [9, { type: 'chats', data: { purchases: [messageOf('c', 30)], discounts: 0 } }],
      [10, { type: 'chats', data: { purchases: [], discounts: 4 } }],
    ]);
  });

  test('keeps other events with their intervals and unique ids', () => {
    const lights: FeedEvent = { type: 'lights', data: null };
    const { sent } = logOf(
      [8, [lights, { type: 'quiz-winners', data: { count: 2 } }]],
      [9, [lights]],
    );
    expect(sent.map(({ interval, event }) => `${interval} ${event.type}`)).toEqual([
      '8 lights',
      '8 quiz-winners',
      '9 lights',
    ]);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3);
  });

  test('keeps the latest 5,000 of 100,000 messages', () => {
    const { messages, messagesFrom } = busyLog(2_000, 50);
    expect(messages.length).toBe(5_000);
    expect(messages.at(-1)?.id).toBe('1999-49');
    expect(messagesFrom).toBe(1_900);
  });

  test('drops messages by whole intervals', () => {
    // 1,000 of 6,000 messages are too many: intervals 0 to 32 and a part of 33.
    const { messages, messagesFrom, firstInterval } = busyLog(200, 30);
    expect(firstInterval).toBe(0);
    expect(messagesFrom).toBe(34);
    expect(messages.length).toBe((200 - 34) * 30);
    expect(messages[0]).toMatchObject({ id: '34-0', interval: 34 });
  });

  test('collects the ids of hidden messages', () => {
    const hide = (...ids: string[]): FeedEvent => ({ type: 'chat-hidden', data: { ids } });
    const { hidden, sent } = logOf([8, [hide('a', 'b')]], [9, [hide('c')]]);
    expect([...hidden]).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ event }) => event.type)).toEqual(['chat-hidden', 'chat-hidden']);
  });

  test('counts hearts of the last minute and extrapolates a shorter log', () => {
    const log = logOf([0, [chats({ hearts: 100 })]], [241, [chats({ hearts: 30 })]]);
    expect(heartsPerMinute(log)).toBe(30);
    // 80 intervals are 20 s. A log of 250 ms counts as 10 s.
    const shortLog = logOf([0, [chats({ hearts: 15 })]], [79, [chats({ hearts: 15 })]]);
    expect(heartsPerMinute(shortLog)).toBe(90);
    expect(heartsPerMinute(logOf([0, [chats({ hearts: 15 })]]))).toBe(90);
    expect(heartsPerMinute(EMPTY_LOG)).toBe(0);
  });
});
