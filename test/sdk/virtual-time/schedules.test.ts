import { expect, test } from 'bun:test';
import { rounds } from '../../support/full-run.ts';
import { runSchedule } from '../../support/sdk/virtual-time/schedule.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const SCHEDULES = rounds(1_000, 10_000);
/** Of one test, so that each ends in a few seconds. */
const SHARE = 250;

// One that failed is run again with `SDK_SEED=… bun test test/sdk/virtual-time`.
const only = Bun.env.SDK_SEED;
const firsts = only
  ? [Number(only)]
  : Array.from({ length: SCHEDULES / SHARE }, (_, share) => share * SHARE);

test.each(firsts)('whatever goes wrong: schedules from %d on', (first) => {
  const failed: string[] = [];
  for (let seed = first; seed < (only ? first + 1 : first + SHARE); seed++) {
    const { faults, violations } = runSchedule(seededRandom(seed));
    if (violations.length > 0)
      failed.push([`SDK_SEED=${seed}`, ...faults, ...violations].join('\n  '));
  }
  expect(failed.join('\n')).toBe('');
});
