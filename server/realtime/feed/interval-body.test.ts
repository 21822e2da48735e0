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
const noTransient = { viewCount: null, chats: null };
const chats = { messages: [], questions: [], greetings: [], cheers: [], hearts: 3 };

function eventsOf(body: string | null) {
  return eventsIntervalSchema.parse(JSON.parse(body ?? '')).events;
}

describe('the body of an interval', () => {
  test('[F-8] has an empty list without events', () => {
    expect(emptyBody(7)).toBe('{"interval":7,"events":[]}');
    expect(composeInterval(7, noTransient, [])).toEqual({ body: null, publishedNumbers: [] });
  });

  test('[F-15] has the view count first, then chats, then outbox events as they were recorded', () => {
    const viewCount = { value: 2, formatted: '2' };
    const outbox = [row(4, 'countdown', { at: 1 }), row(5, 'request-quiz-winners', null)];
    const { body, publishedNumbers } = composeInterval(7, { viewCount, chats }, outbox);
    expect(eventsOf(body).map(({ type }) => type)).toEqual([
      'view-count',
      'chats',
      'countdown',
      'request-quiz-winners',
    ]);
    expect(publishedNumbers).toEqual([4, 5]);
  });

  test('[F-28] has chats with exactly the members of the interface, in its order', () => {
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

  test('[P-31] has only the last of its product events, after all other outbox events', () => {
    const product = (stock: number) => ({
      ...{ id: '1f2e3d4c-5b6a-4978-8685-94a3b2c1d0e9', name: 'Mug', picture_url: null },
      ...{ price: 1_250, currency: 'EUR', url: 'https://shop.example.org/mug', stock },
    });
    const outbox = [
      row(1, 'product', product(2)),
      row(2, 'product', product(1)),
      row(3, 'lights', null),
    ];
    const { body, publishedNumbers } = composeInterval(7, noTransient, outbox);
    expect(eventsOf(body)).toEqual([
      { type: 'lights', data: null },
      { type: 'product', data: product(1) },
    ]);
    expect(publishedNumbers).toEqual([1, 2, 3]);
  });

  test('[C-9] has the sum of discounts, and the hearts of viewers', () => {
    const outbox = [row(1, 'discount', { count: 2 }), row(2, 'discount', { count: 40 })];
    const { body } = composeInterval(7, { viewCount: null, chats }, outbox);
    expect(eventsOf(body)[0]?.data).toMatchObject({ hearts: 3, discounts: 42 });
  });

  test('[C-10] leaves purchases beyond 50 for the next interval, and drops none', () => {
    let outbox = Array.from({ length: 120 }, (_, n) =>
      row(n, 'purchase', { name: 'Ann', text: `item ${n}`, at: 1 }),
    );
    const texts: string[] = [];
    const sizes: number[] = [];
    for (let interval = 7; outbox.length > 0; interval++) {
      const { body, publishedNumbers } = composeInterval(interval, noTransient, outbox);
      const [chatsEvent] = eventsOf(body);
      const purchases =
        (chatsEvent?.data as { purchases?: { text: string }[] } | undefined)?.purchases ?? [];
      sizes.push(purchases.length);
      texts.push(...purchases.map(({ text }) => text));
      outbox = outbox.filter(({ number }) => !publishedNumbers.includes(number));
    }
    expect(sizes).toEqual([CHAT_SAMPLE, CHAT_SAMPLE, 20]);
    expect(texts).toEqual(Array.from({ length: 120 }, (_, n) => `item ${n}`));
  });

  test('[F-35] has type and data of a custom event unchanged', () => {
    const data = { nested: { '1984': [1, null, 'ü "quoted"'] } };
    const { body } = composeInterval(7, noTransient, [row(1, 'lower-third', data)]);
    expect(eventsOf(body)).toEqual([{ type: 'lower-third', data }]);
  });

  test('[I-2] [F-14] contains exactly the events that leave the outbox', () => {
    const kinds = fc.constantFrom('purchase', 'discount', 'custom', 'quiz-winners');
    fc.assert(
      fc.property(fc.array(kinds, { maxLength: 400 }), (types) => {
        const outbox = types.map((type, n) => {
          if (type === 'purchase') return row(n, type, { name: '', text: 't', at: n });
          return row(n, type, { count: 1 });
        });
        const { body, publishedNumbers } = composeInterval(7, noTransient, outbox);
        const events = body === null ? [] : JSON.parse(body).events;
        const merged = events.find((event: { type: string }) => event.type === 'chats')?.data;
        const separate = events.filter((event: { type: string }) => event.type !== 'chats').length;
        const published = separate + (merged?.purchases.length ?? 0) + (merged?.discounts ?? 0);
        expect(published).toBe(publishedNumbers.length);
        expect(new Set(publishedNumbers).size).toBe(publishedNumbers.length);
        const others = outbox.filter(({ type }) => type !== 'purchase').length;
        const purchases = Math.min(CHAT_SAMPLE, outbox.length - others);
        expect(publishedNumbers.length).toBe(others + purchases);
      }),
    );
  });
});
