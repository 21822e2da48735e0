import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { beepSamples, SAMPLE_RATE } from './beep.ts';

const MINUTE = 1_795_190_400_000;
const samplesOf = (fromMs: number, untilMs: number) =>
  new Int16Array(beepSamples(fromMs, untilMs).buffer);
const peakOf = (samples: Int16Array) => Math.max(...samples.map(Math.abs));

/** Number of periods of a tone: half the sign changes. */
function periodsIn(samples: Int16Array): number {
  const nonZero = [...samples].filter((sample) => sample !== 0);
  return (
    nonZero.filter((sample, index) => index > 0 && sample > 0 !== (nonZero[index - 1] ?? 0) > 0)
      .length / 2
  );
}

test('[M-45] a beep begins with each full second, and is quiet', () => {
  for (const second of [1, 2, 59]) {
    const at = MINUTE + second * 1_000;
    expect(peakOf(samplesOf(at - 900, at))).toBe(0);
    const beep = samplesOf(at, at + 90);
    expect(peakOf(beep)).toBeWithin(1_500, 3_300);
    expect(peakOf(beep.subarray(0, 96))).toBeGreaterThan(0);
    expect(peakOf(samplesOf(at + 90, at + 1_000))).toBe(0);
  }
});

test('[M-45] the beep of a full minute is an octave higher', () => {
  const ratio =
    periodsIn(samplesOf(MINUTE, MINUTE + 90)) /
    periodsIn(samplesOf(MINUTE + 1_000, MINUTE + 1_090));
  expect(ratio).toBeWithin(1.95, 2.06);
});

test('chunks of audio join without a gap, and an empty span has no samples', () => {
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
  expect(beepSamples(MINUTE, MINUTE - 5)).toHaveLength(0);
});
