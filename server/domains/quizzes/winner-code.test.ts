import { describe, expect, test } from 'bun:test';
import { SEATS_MAX } from '../../../protocol/limits.ts';
import { winnerCode } from './winner-code.ts';

const SECRET = 'a secret';
const SEATS = Array.from({ length: 20_000 }, (_, seat) => seat);

describe('winnerCode', () => {
  test('[W-13] a code has two syllables and four digits that do not look alike', () => {
    for (const seat of [...SEATS.slice(0, 500), SEATS_MAX - 1]) {
      expect(winnerCode(SECRET, 'stream', seat)).toMatch(
        /^([BDFGHJKLMNRSTVWZ][AEOU]){2}-[2-9]{4}$/,
      );
    }
  });

  test('[W-13] a code is that of its viewer alone, in a stream', () => {
    const codes = SEATS.map((seat) => winnerCode(SECRET, 'stream', seat));
    expect(new Set(codes).size).toBe(SEATS.length);
    expect(winnerCode(SECRET, 'stream', 7)).toBe(codes[7] as string);
  });

  test('[W-13] a code cannot be computed without the secret, and differs between streams', () => {
    const same = (other: (seat: number) => string) =>
      SEATS.slice(0, 1_000).filter((seat) => other(seat) === winnerCode(SECRET, 'stream', seat));
    expect(same((seat) => winnerCode('another secret', 'stream', seat))).toEqual([]);
    expect(same((seat) => winnerCode(SECRET, 'another stream', seat))).toEqual([]);
  });
});
