import { expect, test } from 'bun:test';
import { FAULT_KINDS } from './faults.ts';
import { describeFailure, type openSimulations, runSeeds } from './seed-run.ts';

/** Seeds of a test: a slow machine beside other tests takes a second for each. */
const BATCH = 5;

/** Defines a test for each five of these seeds. @param seeds a multiple of five */
export function testSeeds(
  template: Awaited<ReturnType<typeof openSimulations>>,
  first: number,
  seeds: number,
): void {
  const batches = Array.from({ length: seeds / BATCH }, (_, batch) => first + batch * BATCH);
  test.each(batches)(
    '[I-1] [I-2] [I-3] [I-4] [I-5] [I-7] [N-11] nodes under random faults: seeds from %d on',
    async (from) => {
      const options = { from, seeds: BATCH, kinds: FAULT_KINDS, failuresMax: 1 };
      const { failed } = await runSeeds(template, options);
      expect(failed.map(describeFailure).join('\n')).toBe('');
    },
  );
}
