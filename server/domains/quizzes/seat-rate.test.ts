import { expect, spyOn, test } from 'bun:test';
import { Problem } from '../../http/problem.ts';
import { SeatRate } from './seat-rate.ts';

const STREAM = '0f8fad5b-d9cb-469f-a165-70867728950e';
const OTHER = '11111111-2222-4333-8444-555555555555';

function taken(rate: SeatRate, seat: number, nowMs = 0, streamId = STREAM): boolean {
  try {
    rate.take({ streamId, seat }, nowMs);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 429) return false;
    throw error;
  }
}

test('[L-6] [L-9] each seat of each stream has its own share', () => {
  const rate = new SeatRate('answers', { points: 2, durationS: 60 });
  expect([taken(rate, 0), taken(rate, 0), taken(rate, 0)]).toEqual([true, true, false]);
  expect([taken(rate, 1), taken(rate, 0, 0, OTHER)]).toEqual([true, true]);
});

test('[L-14] 100,000 seats have a share each, of however many streams', () => {
  const rate = new SeatRate('answers', { points: 1, durationS: 60 });
  const streamOf = (n: number) => `stream ${n % 7}`;
  for (let n = 0; n < 100_000; n++) expect(taken(rate, n, 0, streamOf(n))).toBe(true);
  for (let n = 0; n < 100_000; n++) expect(taken(rate, n, 0, streamOf(n))).toBe(false);
});

test('[L-14] beyond so many seats the new ones share one, and the known keep their own', () => {
  const rate = new SeatRate('answers', { points: 2, durationS: 60 }, 3);
  for (const seat of [1, 2, 3]) expect(taken(rate, seat)).toBe(true);
  expect([taken(rate, 4), taken(rate, 5)]).toEqual([true, true]);
  for (const seat of [6, 7, 4]) expect(taken(rate, seat)).toBe(false);
  expect([taken(rate, 1), taken(rate, 1)]).toEqual([true, false]);
});

test('[L-9] a share comes back after its time, and not before', () => {
  const rate = new SeatRate('answers', { points: 1, durationS: 10 }, 2);
  for (const [at, seat] of [1, 2, 3].entries()) {
    expect([taken(rate, seat, at * 1_000), taken(rate, seat, at * 1_000)]).toEqual([true, false]);
  }
  expect([taken(rate, 1, 9_999), taken(rate, 1, 10_000)]).toEqual([false, true]);
  expect([taken(rate, 2, 10_000), taken(rate, 2, 11_000)]).toEqual([false, true]);
  expect([taken(rate, 4, 11_000), taken(rate, 4, 12_000)]).toEqual([false, true]);
});

test('[L-14] seats that are gone make room for others', () => {
  const rate = new SeatRate('answers', { points: 1, durationS: 10 }, 2);
  for (let nowMs = 0; nowMs < 100_000; nowMs += 10_000) {
    const streamId = `stream ${nowMs}`;
    const seats = [1, 2, 3, 4].map((seat) => taken(rate, seat, nowMs, streamId));
    expect(seats).toEqual([true, true, true, false]);
  }
});

test('[L-14] when all places are taken, shares that end one after the other are not looked for each time', () => {
  const rate = new SeatRate('answers', { points: 1, durationS: 10 }, 1_000);
  for (let ms = 0; ms < 1_000; ms++) taken(rate, ms, ms);
  const forget = spyOn(rate as unknown as { forget(nowMs: number): void }, 'forget');
  for (let ms = 10_000; ms < 12_000; ms++) taken(rate, ms, ms);
  // Each second, and when there is room for more than a few again.
  expect(forget.mock.calls.length).toBeLessThanOrEqual(3);
  expect([taken(rate, 20_000, 23_000), taken(rate, 20_000, 23_000)]).toEqual([true, false]);
});

test('[L-9] who is refused hears after how many seconds to try again', () => {
  const rate = new SeatRate('calls', { points: 1, durationS: 10 });
  const seat = { streamId: STREAM, seat: 1 };
  rate.take(seat, 0);
  expect(() => rate.take(seat, 2_500)).toThrow(
    new Problem(429, 'Too many calls; try again in 8 s.', { 'Retry-After': '8' }),
  );
});
