import { expect, test } from 'bun:test';
import { rounds } from '../../support/full-run.ts';
import { runSchedule } from '../../support/sdk/virtual-time/schedule.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const SCHEDULES = rounds(125, 10_000);
/** Schedules per test, so that each takes a few seconds. */
const BATCH = 125;

// Rerun a failed schedule with `SDK_SEED=… bun test test/sdk/virtual-time`.
const onlySeed = Bun.env.SDK_SEED;
const firstSeeds = onlySeed
  ? [Number(onlySeed)]
  : Array.from({ length: SCHEDULES / BATCH }, (_, batch) => batch * BATCH);

test.each(firstSeeds)('a viewer recovers from random faults: schedules from %d on', (firstSeed) => {
  const failed: string[] = [];
  for (let seed = firstSeed; seed < (onlySeed ? firstSeed + 1 : firstSeed + BATCH); seed++) {
    const { faults, violations } = runSchedule(seededRandom(seed));
    if (violations.length > 0)
      failed.push([`SDK_SEED=${seed}`, ...faults, ...violations].join('\n  '));
  }
  expect(failed.join('\n')).toBe('');
});
