import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { eventsIntervalSchema } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { composeInterval, emptyBody } from './interval-body.ts';
import type { OutboxRow } from './outbox-sql.ts';

const row = (number: number, type: string, data: unknown): OutboxRow => ({
  streamId: 's',
  number,
  type,
  data: JSON.stringify(data),
});
const nothing = { viewCount: null, chats: null };
const chats = { messages: [], questions: [], greetings: [], cheers: [], hearts: 3 };

function eventsOf(body: string | null) {
  return eventsIntervalSchema.parse(JSON.parse(body ?? '')).events;
}

describe('the body of an interval', () => {
  test('[F-8] an interval without events has an empty list', () => {
    expect(emptyBody(7)).toBe('{"interval":7,"events":[]}');
    expect(composeInterval(7, nothing, [])).toEqual({ body: null, taken: [] });
  });

  test('[F-15] view-count comes first, then chats, then durable events as they were recorded', () => {
    const viewCount = { value: 2, formatted: '2' };
    const waiting = [row(4, 'countdown', { at: 1 }), row(5, 'request-quiz-winners', null)];
    const { body, taken } = composeInterval(7, { viewCount, chats }, waiting);
    expect(eventsOf(body).map(({ type }) => type)).toEqual([
      'view-count',
      'chats',
      'countdown',
      'request-quiz-winners',
    ]);
    expect(taken).toEqual([4, 5]);
  });

  test('[F-28] chats has exactly the members of the interface, in the order of the interface', () => {
    const { body } = composeInterval(7, { viewCount: null, chats }, []);
    expect(Object.keys(eventsOf(body)[0]?.data ?? {})).toEqual([
      'messages',
      'questions',
      'greetings',
      'cheers',
      'purchases',
      'hearts',
      'discounts',
    ]);
  });

  test('[C-9] discounts are summed, hearts are those of the viewers', () => {
    const waiting = [row(1, 'discount', { count: 2 }), row(2, 'discount', { count: 40 })];
    const { body } = composeInterval(7, { viewCount: null, chats }, waiting);
    expect(eventsOf(body)[0]?.data).toMatchObject({ hearts: 3, discounts: 42 });
  });

  test('[C-10] purchases beyond 50 wait for the next interval, and none is dropped', () => {
    let waiting = Array.from({ length: 120 }, (_, n) =>
      row(n, 'purchase', { name: 'Ann', text: `item ${n}`, at: 1 }),
    );
    const texts: string[] = [];
    const sizes: number[] = [];
    for (let interval = 7; waiting.length > 0; interval++) {
      const { body, taken } = composeInterval(interval, nothing, waiting);
      const [chatsEvent] = eventsOf(body);
      const purchases =
        (chatsEvent?.data as { purchases?: { text: string }[] } | undefined)?.purchases ?? [];
      sizes.push(purchases.length);
      texts.push(...purchases.map(({ text }) => text));
      waiting = waiting.filter(({ number }) => !taken.includes(number));
    }
    expect(sizes).toEqual([CHAT_SAMPLE, CHAT_SAMPLE, 20]);
    expect(texts).toEqual(Array.from({ length: 120 }, (_, n) => `item ${n}`));
  });

  test('[F-35] a custom event keeps its type and data to the letter', () => {
    const data = { nested: { '1984': [1, null, 'ü "quoted"'] } };
    const { body } = composeInterval(7, nothing, [row(1, 'lower-third', data)]);
    expect(eventsOf(body)).toEqual([{ type: 'lower-third', data }]);
  });

  test('[I-2] [F-14] what is taken from the outbox is in the body, and nothing else is', () => {
    const kinds = fc.constantFrom('purchase', 'discount', 'custom', 'quiz-winners');
    fc.assert(
      fc.property(fc.array(kinds, { maxLength: 400 }), (types) => {
        const waiting = types.map((type, n) => {
          if (type === 'purchase') return row(n, type, { name: '', text: 't', at: n });
          return row(n, type, { count: 1 });
        });
        const { body, taken } = composeInterval(7, nothing, waiting);
        const events = body === null ? [] : JSON.parse(body).events;
        const merged = events.find((event: { type: string }) => event.type === 'chats')?.data;
        const own = events.filter((event: { type: string }) => event.type !== 'chats').length;
        const told = own + (merged?.purchases.length ?? 0) + (merged?.discounts ?? 0);
        expect(told).toBe(taken.length);
        expect(new Set(taken).size).toBe(taken.length);
        const others = waiting.filter(({ type }) => type !== 'purchase').length;
        const purchases = Math.min(CHAT_SAMPLE, waiting.length - others);
        expect(taken.length).toBe(others + purchases);
      }),
    );
  });
});
