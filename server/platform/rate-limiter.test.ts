import { describe, expect, spyOn, test } from 'bun:test';
import { RateLimited } from './errors.ts';
import { KeyWindows, RateLimiter, SeatWindows } from './rate-limiter.ts';

describe('RateLimiter', () => {
  test('[L-9] a rate limiter says after how many seconds to try again', () => {
    const limiter = new RateLimiter('calls', new KeyWindows({ points: 1, durationS: 10 }));
    limiter.take('a', 0);
    let thrown: unknown;
    try {
      limiter.take('a', 2_500);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toEqual(new RateLimited('Too many calls; try again in 8 s.', 8));
    expect(thrown).toMatchObject({ retryAfterS: 8 });
  });

  test('[L-9] a rate limiter reads the clock of the process when it is given no time', () => {
    const limiter = new RateLimiter('calls', new KeyWindows({ points: 1, durationS: 60 }));
    expect([limiter.tryTake('a'), limiter.tryTake('a'), limiter.tryTake('b')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('KeyWindows', () => {
  test('[L-9] each key has a window of its own', () => {
    const windows = new KeyWindows({ points: 2, durationS: 60 });
    expect(windows.take('a', 0)).toBe(0);
    expect(windows.take('a', 0)).toBe(0);
    expect(windows.take('a', 0)).toBe(60_000);
    expect(windows.take('b', 0)).toBe(0);
  });

  test('[L-14] keys beyond the maximum share 1,024 windows, and known keys keep their own', () => {
    const windows = new KeyWindows({ points: 2, durationS: 60 }, { keysMax: 3 });
    const isAllowed = (key: string) => windows.take(key, 0) === 0;
    for (const key of ['a', 'b', 'c']) expect(isAllowed(key)).toBe(true);
    const others = Array.from({ length: 10_000 }, (_, n) => `other ${n}`);
    expect(others.filter(isAllowed).length).toBeWithin(2_000, 2_049);
    expect([isAllowed('a'), isAllowed('a')]).toEqual([true, false]);
  });

  test('[L-14] a key that takes all of a shared window leaves the others to other keys', () => {
    const windows = new KeyWindows({ points: 10, durationS: 60 }, { keysMax: 0 });
    const isAllowed = (key: string) => windows.take(key, 0) === 0;
    for (let n = 0; n < 1_000; n++) isAllowed('greedy');
    const others = Array.from({ length: 1_000 }, (_, n) => `other ${n}`);
    expect(others.filter(isAllowed).length).toBeGreaterThan(950);
  });

  test('[L-14] a network with many addresses takes only its share of the windows', () => {
    const windows = new KeyWindows(
      { points: 1, durationS: 60 },
      { keysMax: 100, networkKeysMax: 10, networkOf: (key) => key.split('.', 1)[0] ?? null },
    );
    for (let n = 0; n < 5_000; n++) windows.take(`a.${n}`, 0);
    const others = Array.from({ length: 9 }, (_, n) => [`${n}.0`, `${n}.1`, `${n}.2`]).flat();
    expect(others.filter((key) => windows.take(key, 1) === 0)).toEqual(others);
    // Its windows have ended: it has its share again.
    expect(windows.take('a.0', 60_000)).toBe(0);
    expect(windows.take('a.0', 60_000)).toBe(60_000);
  });

  test('[L-9] peek returns the wait of the next request and counts nothing', () => {
    const windows = new KeyWindows({ points: 1, durationS: 10 });
    expect([windows.peek('a', 0), windows.peek('a', 0), windows.take('a', 1_000)]).toEqual([
      0, 0, 0,
    ]);
    expect([windows.peek('a', 1_000), windows.peek('b', 1_000)]).toEqual([9_000, 0]);
    expect(windows.peek('a', 10_000)).toBe(0);
  });

  test('[L-9] a window ends after its duration, and not before', () => {
    const windows = new KeyWindows({ points: 1, durationS: 10 }, { keysMax: 2 });
    const isAllowed = (key: string, nowMs: number) => windows.take(key, nowMs) === 0;
    for (const [index, key] of ['a', 'b', 'overflow'].entries()) {
      expect(isAllowed(key, index * 1_000)).toBe(true);
      expect(isAllowed(key, index * 1_000)).toBe(false);
    }
    expect(isAllowed('a', 9_999)).toBe(false);
    expect(isAllowed('a', 10_000)).toBe(true);
    expect(isAllowed('b', 10_000)).toBe(false);
    expect(isAllowed('b', 11_000)).toBe(true);
    expect(isAllowed('overflow', 11_000)).toBe(false);
    expect(isAllowed('overflow', 12_000)).toBe(true);
  });
});

describe('SeatWindows', () => {
  const STREAM = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const OTHER = '11111111-2222-4333-8444-555555555555';

  function isAllowed(windows: SeatWindows, seat: number, nowMs = 0, streamId = STREAM): boolean {
    return windows.take({ streamId, seat }, nowMs) === 0;
  }

  test('[L-6] [L-9] each seat of each stream has a window of its own', () => {
    const windows = new SeatWindows({ points: 2, durationS: 60 });
    expect([isAllowed(windows, 0), isAllowed(windows, 0), isAllowed(windows, 0)]).toEqual([
      true,
      true,
      false,
    ]);
    expect([isAllowed(windows, 1), isAllowed(windows, 0, 0, OTHER)]).toEqual([true, true]);
  });

  test('[L-14] 1,000,000 seats have a window each, over several streams', () => {
    const windows = new SeatWindows({ points: 1, durationS: 60 });
    const streamOf = (n: number) => `stream ${n % 7}`;
    const seats = Array.from({ length: 1_000_000 }, (_, n) => n);
    const allowed = () => seats.filter((n) => isAllowed(windows, n, 0, streamOf(n))).length;
    expect([allowed(), allowed()]).toEqual([1_000_000, 0]);
  });

  test('[L-14] the table of a large show takes 50 MB at most, and shrinks with the next answers after it', () => {
    const windows = new SeatWindows({ points: 1, durationS: 10 });
    const bytes = () => (windows as unknown as { slots: Float64Array }).slots.byteLength;
    for (let seat = 0; seat < 600_000; seat++) isAllowed(windows, seat, 0);
    expect(bytes()).toBeWithin(20_000_000, 51_000_000);
    const later = Array.from({ length: 1_000 }, (_, n) => isAllowed(windows, n, 61_000, OTHER));
    expect(later).not.toContain(false);
    expect(bytes()).toBeLessThan(1_000_000);
    expect([isAllowed(windows, 0, 61_000, OTHER), isAllowed(windows, 0, 61_000)]).toEqual([
      false,
      true,
    ]);
  });

  test('[L-14] seats beyond the maximum share 1,024 windows, and known seats keep their own', () => {
    const windows = new SeatWindows({ points: 2, durationS: 60 }, 3);
    for (const seat of [1, 2, 3]) expect(isAllowed(windows, seat)).toBe(true);
    const others = Array.from({ length: 10_000 }, (_, n) => n + 4);
    expect(others.filter((seat) => isAllowed(windows, seat)).length).toBeWithin(2_000, 2_049);
    expect([isAllowed(windows, 1), isAllowed(windows, 1)]).toEqual([true, false]);
  });

  test('[L-9] a window of a seat ends after its duration, and not before', () => {
    const windows = new SeatWindows({ points: 1, durationS: 10 }, 2);
    const twice = (seat: number, firstMs: number, secondMs: number) => [
      isAllowed(windows, seat, firstMs),
      isAllowed(windows, seat, secondMs),
    ];
    for (const [index, seat] of [1, 2, 3].entries()) {
      expect(twice(seat, index * 1_000, index * 1_000)).toEqual([true, false]);
    }
    expect(twice(1, 9_999, 10_000)).toEqual([false, true]);
    expect(twice(2, 10_000, 11_000)).toEqual([false, true]);
    expect(twice(3, 11_000, 12_000)).toEqual([false, true]);
    expect(windows.take({ streamId: STREAM, seat: 1 }, 12_500)).toBe(7_500);
  });

  test('[L-14] seats whose windows have ended make room for others', () => {
    const windows = new SeatWindows({ points: 1, durationS: 10 }, 2);
    for (let nowMs = 0; nowMs < 100_000; nowMs += 10_000) {
      const streamId = `stream ${nowMs}`;
      const results = [1, 2, 3, 3].map((seat) => isAllowed(windows, seat, nowMs, streamId));
      expect(results).toEqual([true, true, true, false]);
    }
  });

  test('[L-14] a full table is swept at intervals, not whenever one window ends', () => {
    const windows = new SeatWindows({ points: 1, durationS: 10 }, 1_000);
    for (let ms = 0; ms < 1_000; ms++) isAllowed(windows, ms, ms);
    const sweep = spyOn(windows as unknown as { sweep(nowMs: number): void }, 'sweep');
    for (let ms = 10_000; ms < 12_000; ms++) isAllowed(windows, ms, ms);
    // Once a second, and when the table has to grow again.
    expect(sweep.mock.calls.length).toBeLessThanOrEqual(3);
    expect([isAllowed(windows, 20_000, 23_000), isAllowed(windows, 20_000, 23_000)]).toEqual([
      true,
      false,
    ]);
  });
});
