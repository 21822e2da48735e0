import { expect, test } from 'bun:test';
import type { EventsInterval } from '../../sdk/types.ts';
import { NO_CHATS } from '../../test/support/chat/chat-messages.ts';
import { RepeatedHeartCounter } from './heart-count.ts';

/** @param heartCounts of each `chats` event in the interval */
function makeInterval(interval: number, ...heartCounts: readonly number[]): EventsInterval {
  const events = heartCounts.map((hearts) => ({ type: 'chats', data: { ...NO_CHATS, hearts } }));
  return { interval, events };
}

function repeatedHearts(...intervals: readonly EventsInterval[]): number {
  const counter = new RepeatedHeartCounter();
  for (const interval of intervals) counter.add(interval);
  return counter.hearts;
}

test('hearts that come once are not repeated', () => {
  expect(repeatedHearts(makeInterval(1, 3), makeInterval(2), makeInterval(3, 4))).toBe(0);
});

test('hearts that come again after a seek are repeated, each time', () => {
  const show = [makeInterval(1, 3), makeInterval(2), makeInterval(3, 4, 1)];
  expect(repeatedHearts(...show, ...show.slice(1))).toBe(5);
  expect(repeatedHearts(...show, ...show, ...show)).toBe(16);
  // An interval that was skipped at first is not repeated.
  expect(repeatedHearts(makeInterval(1, 3), makeInterval(9, 2), makeInterval(5, 7))).toBe(0);
});
