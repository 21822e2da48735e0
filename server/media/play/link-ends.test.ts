import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { PAUSE_MOST_MS, pauseMs, sequelOf } from './link-ends.ts';

test.each([
  [4401, 'give-up', 'give-up'],
  [4409, 'give-up', 'again'],
  [4410, 'give-up', 'over'],
  [4413, 'give-up', 'again'],
  [4415, 'give-up', 'give-up'],
  [4503, 'give-up', 'again'],
  [1006, 'give-up', 'again'],
  [1000, 'give-up', 'again'],
])('[M-9] what follows on code %d: at the start %s, later %s', (code, atFirst, later) => {
  expect(sequelOf({ code, reason: 'why' }, false).kind).toBe(atFirst as 'over');
  expect(sequelOf({ code, reason: 'why' }, true).kind).toBe(later as 'over');
});

test('[M-9] who gives up says what to do', () => {
  const why = (code: number, reason: string) => {
    const sequel = sequelOf({ code, reason }, false);
    return sequel.kind === 'give-up' ? sequel.why : '';
  };
  expect(why(4409, '')).toContain('stop that one first');
  expect(why(4410, '')).toContain('make a new one');
  expect(why(4503, 'The service is stopping.')).toBe('The service is stopping.');
  expect(why(1002, '')).toContain('1002');
});

test('[M-9] pauses grow up to 30 s, and no two senders have the same', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 1e6 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (tries, random) => {
        const ms = pauseMs(tries, random);
        expect(ms).toBeWithin(700, PAUSE_MOST_MS + 1);
        expect(pauseMs(tries + 1, random)).toBeGreaterThanOrEqual(ms);
      },
    ),
  );
  expect([0, 1, 2, 3, 4, 5, 6].map((tries) => pauseMs(tries, 0))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ]);
  expect(pauseMs(5, 1)).toBe(21_000);
});
