import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { CountLedger } from './count-ledger.ts';

const START_MS = intervalStartMs(6_800_000_000);

/** A model of the service's count at a time (V-3). */
function countOf(arrivals: readonly { viewer: number; atMs: number }[], nowMs: number): number {
  const present = arrivals.filter(
    ({ atMs }) => atMs < nowMs && intervalAt(nowMs) - intervalAt(atMs) <= 4,
  );
  return new Set(present.map(({ viewer }) => viewer)).size;
}

const heartbeats = fc.array(
  fc.record({
    viewer: fc.nat({ max: 6 }),
    atMs: fc.integer({ min: 0, max: 4_000 }),
    requestMs: fc.nat({ max: 300 }),
    responseMs: fc.nat({ max: 300 }),
    outcome: fc.constantFrom('answered', 'answered', 'answered', 'broken', 'pending'),
  }),
  { maxLength: 40 },
);

type Sent = typeof heartbeats extends fc.Arbitrary<infer Steps> ? Steps : never;

function ledgerOf(sent: Sent) {
  const ledger = new CountLedger();
  for (const { viewer, atMs, requestMs, responseMs, outcome } of sent) {
    const heartbeat = ledger.sent(viewer, START_MS + atMs - requestMs);
    if (outcome === 'answered') ledger.acknowledged(heartbeat, START_MS + atMs + responseMs);
    if (outcome === 'broken') ledger.lost(heartbeat, START_MS + atMs);
  }
  return ledger;
}

describe('CountLedger', () => {
  test('[I-5] CountLedger bounds contain the true count of each interval for any heartbeats', () => {
    fc.assert(
      fc.property(heartbeats, (heartbeatsSent) => {
        const sent = heartbeatsSent.sort((a, b) => a.atMs - b.atMs);
        const ledger = ledgerOf(sent);
        const arrivals = sent.map(({ viewer, atMs }) => ({ viewer, atMs: START_MS + atMs }));
        for (let interval = 0; interval < 16; interval++) {
          const endMs = START_MS + (interval + 1) * INTERVAL_MS;
          const { low, high } = ledger.boundsAtEndOf(intervalAt(START_MS) + interval);
          const counted = countOf(arrivals, endMs - 0.5);
          expect(low).toBeLessThanOrEqual(counted);
          expect(high).toBeGreaterThanOrEqual(counted);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('[V-2] CountLedger bounds contain the true count of each read', () => {
    fc.assert(
      fc.property(
        heartbeats,
        fc.nat({ max: 4_000 }),
        fc.nat({ max: 300 }),
        (heartbeatsSent, readMs, errorMs) => {
          const sent = heartbeatsSent.sort((a, b) => a.atMs - b.atMs);
          const arrivals = sent.map(({ viewer, atMs }) => ({ viewer, atMs: START_MS + atMs }));
          const nowMs = START_MS + readMs;
          const { low, high } = ledgerOf(sent).boundsBetween(nowMs - errorMs, nowMs + errorMs);
          const counted = countOf(arrivals, nowMs);
          expect(low).toBeLessThanOrEqual(counted);
          expect(high).toBeGreaterThanOrEqual(counted);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('CountLedger bounds are equal when the arrival of each heartbeat is known', () => {
    fc.assert(
      fc.property(heartbeats, (heartbeatsSent) => {
        const answered = heartbeatsSent
          .map((each) => ({ ...each, requestMs: 0, responseMs: 0, outcome: 'answered' as const }))
          .sort((a, b) => a.atMs - b.atMs);
        const ledger = ledgerOf(answered);
        for (let interval = 0; interval < 16; interval++) {
          const { low, high } = ledger.boundsAtEndOf(intervalAt(START_MS) + interval);
          expect(low).toBe(high);
        }
      }),
    );
  });

  test('CountLedger bounds exclude viewers who left and include unanswered heartbeats as possible', () => {
    const ledger = new CountLedger();
    const interval = intervalAt(START_MS);
    ledger.acknowledged(ledger.sent(1, START_MS + 10), START_MS + 20);
    ledger.sent(2, START_MS + 10);
    expect(ledger.boundsAtEndOf(interval)).toEqual({ low: 1, high: 2 });
    expect(ledger.boundsAtEndOf(interval + 4)).toEqual({ low: 1, high: 2 });
    expect(ledger.boundsAtEndOf(interval + 5)).toEqual({ low: 0, high: 1 });
  });

  test('CountLedger removes expired heartbeats', () => {
    const ledger = new CountLedger();
    for (let second = 0; second < 10_000; second++) {
      const atMs = START_MS + second * 1_000;
      ledger.acknowledged(ledger.sent(1, atMs), atMs + 3);
    }
    expect(Bun.inspect(ledger, { depth: 5 }).length).toBeLessThan(3_000);
  });
});
