import { describe, expect, test } from 'bun:test';
import { IncorrectResponse } from './bench.ts';
import { type Comparison, type Contender, compare, leftMs, RATIO } from './compare.ts';

const SECONDS = 4;
const silent = { show: () => {}, clear: () => {} };

/** Contenders that record their calls and return these figures; the first of each is the warm-up. */
function contenders(figures: Record<string, (number | Error)[]>) {
  const done: string[] = [];
  const made = Object.entries(figures).map(([name, samples]): Contender => {
    let turn = 0;
    return {
      name,
      start: async () => {
        done.push(`${name} starts`);
        return {
          measure: async (seconds) => {
            done.push(`${name} for ${seconds} s`);
            const sample = samples[turn++];
            if (sample instanceof Error) throw sample;
            return { 'requests/s': sample ?? 0, ms: turn };
          },
          stop: async () => {
            done.push(`${name} stops`);
          },
        };
      },
    };
  });
  return { made, done };
}

function run(made: readonly Contender[], targets: Comparison['targets'] = []) {
  const comparison = { bench: 'feed', title: 'reads', contenders: made, targets };
  return compare(comparison, { rounds: 3, seconds: SECONDS, progress: silent });
}

describe('a comparison', () => {
  test('measures contenders alternately, after a warm-up of each', async () => {
    const { made, done } = contenders({ ours: [1, 1, 1, 1], theirs: [1, 1, 1, 1] });
    await run(made);
    expect(done).toEqual([
      ...['ours starts', 'ours for 2 s', 'theirs starts', 'theirs for 2 s'],
      ...Array.from({ length: 3 }, () => ['ours for 4 s', 'theirs for 4 s']).flat(),
      ...['ours stops', 'theirs stops'],
    ]);
  });

  test('has medians with their spread, and medians of the ratios of each round', async () => {
    const { made } = contenders({ ours: [999, 10, 40, 20], theirs: [999, 10, 20, 40] });
    const { rows, targets } = await run(made, [{ against: 'theirs', atLeast: 1, aim: 3 }]);
    const [ours, theirs] = rows;
    expect(ours?.figures['requests/s']).toEqual({ median: 20, least: 10, most: 40 });
    expect(theirs?.figures['requests/s']).toEqual({ median: 20, least: 10, most: 40 });
    // The ratios of the rounds are 1, 2 and 0.5; the ratio of the medians would differ.
    expect(theirs?.figures[RATIO]).toEqual({ median: 1, least: 0.5, most: 2 });
    expect(targets[0]?.value).toEqual({ median: 1, least: 0.5, most: 2 });
    expect(ours?.figures[RATIO]).toBeUndefined();
    expect([ours?.isOurs, theirs?.isOurs]).toEqual([true, false]);
  });

  test('fails with an incorrect response, and stops all contenders', async () => {
    const wrong = new IncorrectResponse('another body');
    const { made, done } = contenders({ ours: [1, 1, 1, 1], theirs: [1, 1, wrong] });
    const error = await run(made).catch((e) => e);
    expect(error).toBe(wrong);
    expect(done.slice(-2)).toEqual(['ours stops', 'theirs stops']);
  });
});

test('the remaining time is estimated from the finished measurements', () => {
  expect(leftMs(0, 10, 0)).toBeUndefined();
  expect(leftMs(2, 10, 8_000)).toBe(32_000);
  expect(leftMs(10, 10, 40_000)).toBe(0);
});
