import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { leaseClockMs, stallBetweenMs } from '../../platform/lease-clock.ts';
import { hasSource, type Lease, mayOpen, mayRenew, SOURCE_ALIVE_MS } from './lease-rules.ts';

const LIVE: Lease = { status: 'STREAMING', source: 'first', seenMs: 1_000 };
const VACANT: Lease = { ...LIVE, source: null, seenMs: null };

describe('source lease rules', () => {
  test('[M-6] a source keeps its lease until it is silent for 6 s', () => {
    expect(SOURCE_ALIVE_MS).toBe(6_000);
    expect(hasSource(LIVE, 6_999)).toBe(true);
    expect(hasSource(LIVE, 7_000)).toBe(false);
    expect(mayOpen(LIVE, 'second', 6_999)).toBe('busy');
    expect(mayOpen(LIVE, 'second', 7_000)).toBe('opened');
    expect(mayOpen(LIVE, 'first', 1_001)).toBe('opened');
    expect(mayOpen(VACANT, 'second', 1_000)).toBe('opened');
  });

  test('[M-8] a stream that has ended has no source', () => {
    const ended: Lease = { ...LIVE, status: 'ENDED' };
    expect(hasSource(ended, 1_000)).toBe(false);
    expect(mayOpen(ended, 'first', 1_000)).toBe('ended');
    expect(mayRenew(ended, 'first')).toBe('ended');
  });

  test('[M-32] a stream that has not started has a source, its preview', () => {
    const preview: Lease = { ...LIVE, status: 'CREATED' };
    expect(hasSource(preview, 6_999)).toBe(true);
    expect(hasSource(preview, 7_000)).toBe(false);
    expect(mayOpen(preview, 'second', 6_999)).toBe('busy');
    expect(mayRenew(preview, 'first')).toBe('renewed');
  });

  test('[M-6] an expired lease can be renewed until another source opens', () => {
    expect(mayRenew(LIVE, 'first')).toBe('renewed');
    expect(mayRenew({ ...LIVE, source: 'second' }, 'first')).toBe('lost');
    expect(mayRenew(VACANT, 'first')).toBe('lost');
  });
});

describe('lease clock', () => {
  test('[M-7] the lease clock follows service time while sealing runs, and counts at most 2 s of a stall', () => {
    const fresh = { interval: 40, stalledMs: 0 };
    expect(leaseClockMs(fresh, 10_300)).toBe(10_300);
    expect(leaseClockMs(fresh, 12_250)).toBe(12_250);
    expect(leaseClockMs(fresh, 60_000)).toBe(12_250);
    expect(stallBetweenMs(40, 48)).toBe(0);
    expect(stallBetweenMs(40, 49)).toBe(250);
  });

  test('[M-7] the lease clock is continuous over every sealing and never goes back', () => {
    const sealings = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(sealings, fc.integer({ min: -1, max: 1_000 }), (steps, first) => {
        let sealed = { interval: first, stalledMs: 0 };
        for (const step of steps) {
          const interval = sealed.interval + step;
          const endMs = intervalStartMs(interval + 1);
          const before = leaseClockMs(sealed, endMs);
          const { stalledMs } = sealed;
          const sealedNext = {
            interval,
            stalledMs: stalledMs + stallBetweenMs(interval - step, interval),
          };
          expect(leaseClockMs(sealedNext, endMs)).toBe(before);
          expect(leaseClockMs(sealedNext, endMs + 100)).toBe(before + 100);
          sealed = sealedNext;
        }
      }),
    );
  });
});
