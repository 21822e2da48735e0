import { describe, expect, test } from 'bun:test';
import type { Chats, FeedEvent } from '../../protocol/feed.ts';
import { intervalStartMs } from '../../protocol/interval.ts';
import { EMPTY_RECORD, heartsAMinute, type ShowRecord, withInterval } from './show-record.ts';

const NOTHING: Chats = {
  messages: [],
  questions: [],
  greetings: [],
  cheers: [],
  purchases: [],
  hearts: 0,
  discounts: 0,
};
const line = (id: string, at: number) => ({ id, viewer: 'v', name: 'Ann', text: 'Hi', at });
const chats = (part: Partial<Chats>): FeedEvent => ({
  type: 'chats',
  data: { ...NOTHING, ...part },
});
const recordOf = (...all: [number, FeedEvent[]][]): ShowRecord =>
  all.reduce(
    (record, [interval, events]) => withInterval(record, { interval, events }),
    EMPTY_RECORD,
  );

describe('what is kept of a show', () => {
  test('an interval that comes twice counts once, and one that comes late not at all', () => {
    const once = recordOf([8, [chats({ hearts: 3 })]]);
    expect(withInterval(once, { interval: 8, events: [chats({ hearts: 3 })] })).toBe(once);
    expect(withInterval(once, { interval: 7, events: [] })).toBe(once);
    expect(once.recentHearts.map(({ count }) => count)).toEqual([3]);
  });

  test('it says where it begins, so that what was before can be asked for', () => {
    expect(EMPTY_RECORD.first).toBeNull();
    expect(recordOf([8, []], [9, []]).first).toBe(8);
  });

  test('lines of all kinds stand in the order in which they were written', () => {
    const { lines } = recordOf(
      [8, [chats({ cheers: [line('b', 20)], questions: [line('a', 10)] })]],
      [9, [chats({ purchases: [line('c', 30)] })]],
    );
    expect(lines.map(({ id, kind }) => `${id} ${kind}`)).toEqual([
      'a question',
      'b cheer',
      'c purchase',
    ]);
  });

  test('counts have the time of their interval', () => {
    const event: FeedEvent = { type: 'view-count', data: { value: 12, formatted: '12' } };
    expect(recordOf([8, [event]]).counts).toEqual([{ atMs: intervalStartMs(8), count: 12 }]);
  });

  test('[B-8] of the chat, what was sold is among what was sent', () => {
    const said = chats({ messages: [line('a', 10)], hearts: 3 });
    const { sent } = recordOf(
      [8, [said]],
      [9, [chats({ purchases: [line('c', 30)] })]],
      [10, [chats({ discounts: 4 })]],
    );
    expect(sent.map(({ interval, event }) => [interval, event])).toEqual([
      [9, { type: 'chats', data: { purchases: [line('c', 30)], discounts: 0 } }],
      [10, { type: 'chats', data: { purchases: [], discounts: 4 } }],
    ]);
  });

  test('all else that was sent is kept with its interval, each under a name of its own', () => {
    const lights: FeedEvent = { type: 'lights', data: null };
    const { sent } = recordOf(
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

  test('a hundred thousand lines leave the newest few thousand', () => {
    const many = Array.from({ length: 2_000 }, (_, n): [number, FeedEvent[]] => [
      n,
      [chats({ messages: Array.from({ length: 50 }, (_, k) => line(`${n}-${k}`, n * 50 + k)) })],
    ]);
    const { lines, linesFrom } = recordOf(...many);
    expect(lines.length).toBe(5_000);
    expect(lines.at(-1)?.id).toBe('1999-49');
    expect(linesFrom).toBe(1_900);
  });

  test('lines of an interval are kept or dropped together: those before can be asked for', () => {
    const part = (n: number) =>
      [n, [chats({ messages: Array.from({ length: 30 }, (_, k) => line(`${n}-${k}`, k)) })]] as [
        number,
        FeedEvent[],
      ];
    const { lines, linesFrom, first } = recordOf(...Array.from({ length: 200 }, (_, n) => part(n)));
    expect(first).toBe(0);
    expect(linesFrom).toBe(34);
    expect(lines.length).toBe((200 - 34) * 30);
    expect(lines[0]).toMatchObject({ id: '34-0', interval: 34 });
  });

  test('knows which lines were hidden', () => {
    const hide = (...ids: string[]): FeedEvent => ({ type: 'chat-hidden', data: { ids } });
    const { hidden, sent } = recordOf([8, [hide('a', 'b')]], [9, [hide('c')]]);
    expect([...hidden]).toEqual(['a', 'b', 'c']);
    expect(sent.map(({ event }) => event.type)).toEqual(['chat-hidden', 'chat-hidden']);
  });

  test('hearts a minute are those of the last one, or go by what there is of it', () => {
    const record = recordOf([0, [chats({ hearts: 100 })]], [241, [chats({ hearts: 30 })]]);
    expect(heartsAMinute(record)).toBe(30);
    const young = recordOf([0, [chats({ hearts: 15 })]], [79, [chats({ hearts: 15 })]]);
    expect(heartsAMinute(young)).toBe(90);
    expect(heartsAMinute(recordOf([0, [chats({ hearts: 15 })]]))).toBe(90);
    expect(heartsAMinute(EMPTY_RECORD)).toBe(0);
  });
});
