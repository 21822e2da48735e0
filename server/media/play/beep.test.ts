import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { beeps, SAMPLE_RATE } from './beep.ts';

const MINUTE = 1_795_190_400_000;
const samplesOf = (fromMs: number, untilMs: number) =>
  new Int16Array(beeps(fromMs, untilMs).buffer);
const loudest = (samples: Int16Array) => Math.max(...samples.map(Math.abs));

/** Half the changes of sign: the waves of a tone. */
function waves(samples: Int16Array): number {
  const loud = [...samples].filter((sample) => sample !== 0);
  return (
    loud.filter((sample, place) => place > 0 && sample > 0 !== (loud[place - 1] ?? 0) > 0).length /
    2
  );
}

test('[M-45] a beep begins with each full second, and is quiet', () => {
  for (const second of [1, 2, 59]) {
    const at = MINUTE + second * 1_000;
    expect(loudest(samplesOf(at - 900, at))).toBe(0);
    const beep = samplesOf(at, at + 90);
    expect(loudest(beep)).toBeWithin(1_500, 3_300);
    expect(loudest(beep.subarray(0, 96))).toBeGreaterThan(0);
    expect(loudest(samplesOf(at + 90, at + 1_000))).toBe(0);
  }
});

test('[M-45] the beep of a full minute is an octave higher', () => {
  const ratio =
    waves(samplesOf(MINUTE, MINUTE + 90)) / waves(samplesOf(MINUTE + 1_000, MINUTE + 1_090));
  expect(ratio).toBeWithin(1.95, 2.06);
});

test('pieces join without a seam, and none is no sound', () => {
  const lengths = fc.integer({ min: 0, max: 1_500 });
  fc.assert(
    fc.property(lengths, lengths, lengths, (before, first, second) => {
      const from = MINUTE - 700 + before;
      const middle = from + first;
      const until = middle + second;
      const whole = samplesOf(from, until);
      expect(whole.length).toBe(((until - from) * SAMPLE_RATE) / 1_000);
      expect(whole).toEqual(
        Int16Array.from([...samplesOf(from, middle), ...samplesOf(middle, until)]),
      );
    }),
    { numRuns: 30 },
  );
  expect(beeps(MINUTE, MINUTE - 5)).toHaveLength(0);
});
