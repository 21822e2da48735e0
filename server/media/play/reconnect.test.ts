import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { decideReconnect, MAX_RECONNECT_DELAY_MS, reconnectDelayMs } from './reconnect.ts';

test.each([
  [4401, 'give-up', 'give-up'],
  [4409, 'give-up', 'retry'],
  [4410, 'give-up', 'stream-ended'],
  [4413, 'give-up', 'retry'],
  [4415, 'give-up', 'give-up'],
  [4503, 'give-up', 'retry'],
  [1006, 'give-up', 'retry'],
  [1000, 'give-up', 'retry'],
])(
  '[M-9] close code %d leads to %s before the first acceptance and to %s after it',
  (code, initially, later) => {
    expect(decideReconnect({ code, reason: 'reason' }, false).kind).toBe(
      initially as 'stream-ended',
    );
    expect(decideReconnect({ code, reason: 'reason' }, true).kind).toBe(later as 'stream-ended');
  },
);

test('[M-9] a sender that gives up states what to do', () => {
  const reasonOf = (code: number, serviceReason: string) => {
    const decision = decideReconnect({ code, reason: serviceReason }, false);
    return decision.kind === 'give-up' ? decision.reason : '';
  };
  expect(reasonOf(4409, '')).toContain('stop that one first');
  expect(reasonOf(4409, 'The account sends to too many streams.')).toContain('too many');
  expect(reasonOf(4410, '')).toContain('create a new one');
  expect(reasonOf(4503, 'The service is stopping.')).toBe('The service is stopping.');
  expect(reasonOf(1002, '')).toContain('1002');
});

test('[M-9] reconnect delays grow up to 30 s and have jitter', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 1e6 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const ms = reconnectDelayMs(attempts, random);
        expect(ms).toBeWithin(700, MAX_RECONNECT_DELAY_MS + 1);
        expect(reconnectDelayMs(attempts + 1, random)).toBeGreaterThanOrEqual(ms);
      },
    ),
  );
  expect([0, 1, 2, 3, 4, 5, 6].map((attempts) => reconnectDelayMs(attempts, 0))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
  expect(reconnectDelayMs(5, 1)).toBe(21_000);
});
