import { describe, expect, test } from 'bun:test';
import { parseLadder } from './media-settings.ts';

describe('the ladder setting', () => {
  test('[M-10] the ladder setting is a list of pairs of divisor and MB/s, in any order', () => {
    expect(parseLadder('1:2.4,2:1.2,3:0.8')).toEqual([
      { divisor: 1, megabytesPerS: 2.4 },
      { divisor: 2, megabytesPerS: 1.2 },
      { divisor: 3, megabytesPerS: 0.8 },
    ]);
    expect(parseLadder('1.5:1, 1:2').map((step) => step.divisor)).toEqual([1, 1.5]);
  });

  test.each([
    ['', 'It must be steps such as 1:2.4,2:1.2 (divisor:megabytes per second).'],
    ['1:2.4,', 'It must be steps such as 1:2.4,2:1.2 (divisor:megabytes per second).'],
    ['1', 'It must be steps such as 1:2.4,2:1.2 (divisor:megabytes per second).'],
    ['-1:2', 'It must be steps such as 1:2.4,2:1.2 (divisor:megabytes per second).'],
    ['0.5:2', 'It must have divisors from 1 to 16.'],
    ['17:2', 'It must have divisors from 1 to 16.'],
    ['1:0', 'It must have rates from 0.015 to 25 MB/s.'],
    ['1:80', 'It must have rates from 0.015 to 25 MB/s.'],
    ['1:2,1:1', 'It must have the divisor 1 only once.'],
    ['1:1,2:1,3:1,4:1,5:1,6:1,7:1', 'It must have at most 6 steps.'],
  ])('[O-8] the ladder setting rejects %p with a reason', (text, reason) => {
    expect(() => parseLadder(text)).toThrow(new Error(reason));
  });
});
