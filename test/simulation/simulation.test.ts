import { afterAll, expect, test } from 'bun:test';
import { rounds } from '../support/full-run.ts';
import { FAULT_KINDS } from '../support/simulation/faults.ts';
import { type Plan, planOf } from '../support/simulation/plan.ts';
import { openSimulations } from '../support/simulation/seed-run.ts';
import { testSeeds } from '../support/simulation/seed-tests.ts';
import { shrinkPlan } from '../support/simulation/shrink.ts';
import { simulate } from '../support/simulation/simulation.ts';

const template = await openSimulations();
afterAll(() => template.close());

testSeeds(template, 1, rounds(100, 1_000));

/** Plans that once had violations, with what was wrong. */
const REGRESSIONS: readonly { readonly bug: string; readonly plan: Plan }[] = [
  {
    bug: '[C-6] a batch was accepted twice after Redis lost its data while its reply was lost',
    plan: {
      ...{ seed: 5173, isEmbedded: false, nodes: 2, viewers: 2 },
      faults: [
        {
          kind: 'stop PostgreSQL',
          atMs: 166,
          durationMs: 1_259,
          victim: 0.36615063645876944,
          strength: 0.36615063645876944,
        },
        {
          kind: 'deadlocks in PostgreSQL',
          atMs: 3_444,
          durationMs: 1_134,
          victim: 0.5418434659950435,
          strength: 0.5418434659950435,
        },
        {
          kind: 'slow way to Redis',
          atMs: 5_440,
          durationMs: 379,
          victim: 0.19463907601311803,
          strength: 0.19463907601311803,
        },
        {
          kind: 'restart Redis empty while replies to a node are lost',
          atMs: 5_716,
          durationMs: 2_702,
          victim: 0.2707172576338053,
          strength: 0.2707172576338053,
        },
      ],
    },
  },
  {
    bug: '[I-1] an interval that a promoted standby lacked was served empty',
    plan: {
      ...{ seed: 256, isEmbedded: false, nodes: 3, viewers: 3 },
      faults: [
        {
          kind: 'slow way to Redis',
          atMs: 2_902,
          durationMs: 250,
          victim: 0.15745690907351673,
          strength: 0.6314355446957052,
        },
        {
          kind: 'promote a lagging standby of PostgreSQL',
          atMs: 3_112,
          durationMs: 996,
          victim: 0.3728411679621786,
          strength: 0.4831636599265039,
        },
        {
          kind: 'slow PostgreSQL',
          atMs: 3_546,
          durationMs: 885,
          victim: 0.8237309362739325,
          strength: 0.6676528388634324,
        },
      ],
    },
  },
  {
    bug: '[R-15] with SQLite each call of a request had the time of one',
    plan: {
      ...{ seed: 52_853, isEmbedded: true, nodes: 1, viewers: 4 },
      faults: [
        {
          kind: 'slow disk',
          atMs: 775,
          durationMs: 1_207,
          victim: 0.024780141655355692,
          strength: 0.9754386097192764,
        },
        {
          kind: 'a viewer changes its network',
          atMs: 1_225,
          durationMs: 10,
          victim: 0.7555818855762482,
          strength: 0.9058208228088915,
        },
      ],
    },
  },
];

test.each(REGRESSIONS)('$bug', ({ plan }) => {
  expect(simulate(plan, template).violations).toEqual([]);
});

test('[I-1] [N-22] an interval that the database lost before its publication was served by the node that had sealed it: seed 4000234', () => {
  expect(simulate(planOf(4_000_234, FAULT_KINDS), template).violations).toEqual([]);
});

/** The oracle once took the report of a winner for one of another round than the service did. */
test.each([28_397, 92_457])('[W-4] a report counts for the round that is open: seed %d', (seed) => {
  expect(simulate(planOf(seed, FAULT_KINDS), template).violations).toEqual([]);
});

/** Their show once ended before the count of a round that W-5 had prolonged. */
test.each([9_813, 17_283, 58_388, 59_918, 60_628, 63_415])(
  '[W-5] the count of a prolonged round comes in its time: seed %d',
  (seed) => {
    expect(simulate(planOf(seed, FAULT_KINDS), template).violations).toEqual([]);
  },
);

test('a seed runs the same way each time', () => {
  const hashes = [1, 2, 3].map(() => simulate(planOf(7, FAULT_KINDS), template).hash);
  expect(new Set(hashes).size).toBe(1);
});

test('a plan that fails is shrunk to the fault that is to blame', () => {
  const plan = planOf(3, FAULT_KINDS);
  const [culprit] = plan.faults;
  const smallest = shrinkPlan(plan, ({ faults }) =>
    faults.some(({ kind }) => kind === culprit?.kind),
  );
  expect(smallest.faults.map(({ kind }) => kind)).toEqual([culprit?.kind as never]);
  expect(smallest.viewers).toBe(1);
});
