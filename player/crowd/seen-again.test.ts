import { expect, test } from 'bun:test';
import type { Chats, EventsInterval } from '../../sdk/types.ts';
import { SeenAgain } from './seen-again.ts';

const EMPTY = { messages: [], questions: [], greetings: [], cheers: [], purchases: [] };

function interval(number: number, ...hearts: readonly number[]): EventsInterval {
  const events = hearts.map((one) => {
    const data: Chats = { ...EMPTY, hearts: one, discounts: 0 };
    return { type: 'chats', data };
  });
  return { interval: number, events };
}

function heartsSeenAgain(...intervals: readonly EventsInterval[]): number {
  const seen = new SeenAgain();
  for (const one of intervals) seen.take(one);
  return seen.hearts;
}

test('hearts that are seen once are not seen again', () => {
  expect(heartsSeenAgain(interval(1, 3), interval(2), interval(3, 4))).toBe(0);
});

test('who goes back sees again what was there, each time, and nothing that was not', () => {
  const show = [interval(1, 3), interval(2), interval(3, 4, 1)];
  expect(heartsSeenAgain(...show, ...show.slice(1))).toBe(5);
  expect(heartsSeenAgain(...show, ...show, ...show)).toBe(16);
  // It was passed over at first.
  expect(heartsSeenAgain(interval(1, 3), interval(9, 2), interval(5, 7))).toBe(0);
});
