import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ViewCount } from '../../../protocol/view-counts.ts';
import { CountEvents, countIsDue } from './view-count-events.ts';

describe('view-count events', () => {
  test('[F-27] they come once a second, in intervals with interval % 4 = 3', () => {
    const due = Array.from({ length: 12 }, (_, n) => n + 100).filter((n) => countIsDue(n, n));
    expect(due).toEqual([103, 107, 111]);
  });

  test('[F-27] a sealing that was delayed past such an interval has one', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(20), (from, length) => {
        const all = Array.from({ length: length + 1 }, (_, n) => from + n);
        expect(countIsDue(from, from + length)).toBe(all.some((n) => n % 4 === 3));
      }),
    );
  });

  test('[F-27] streams with viewers, that lost their last one, or that are read have one', () => {
    let live: [string, number][] = [['a', 1_234]];
    const events = new CountEvents({ countsAtEndOf: () => live });
    const zero = { value: 0, formatted: '0' };
    expect([...events.take(103, ['b', 'a'])]).toEqual([
      ['a', { value: 1_234, formatted: '1.2K' }],
      ['b', zero],
    ]);
    events.sealed();
    live = [];
    expect([...events.take(107, [])]).toEqual([['a', zero]]);
    events.sealed();
    expect([...events.take(111, [])]).toEqual([]);
  });

  test('[F-27] a stream that fell to 0 while sealing failed is told of with the next sealing', () => {
    let live: [string, number][] = [['a', 1]];
    const events = new CountEvents({ countsAtEndOf: () => live });
    events.take(103, []);
    events.sealed();
    live = [];
    const zero: [string, ViewCount] = ['a', { value: 0, formatted: '0' }];
    expect([...events.take(107, [])]).toEqual([zero]);
    expect([...events.take(108, [])]).toEqual([zero]);
    events.sealed();
    expect([...events.take(111, [])]).toEqual([]);
  });
});
