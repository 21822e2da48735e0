import { afterAll, expect, test } from 'bun:test';
import { lineOf, runFault } from '../support/cluster/fault-run.ts';
import { FAULTS } from '../support/cluster/faults.ts';
import { type Fixture, type FixtureKind, openFixture } from '../support/cluster/fixture.ts';
import { killServers } from '../support/harness/program.ts';

// Each fault some times, on three nodes under load; `npm run faults` has them all in full. What
// clients sent and heard is all that the oracle knows: see test/support/cluster/load.ts.

/** A node takes its time on a busy machine; a fault that hangs is ended by its own limits. */
const TEST_MAX_MS = 240_000;

const TITLES: Record<string, string> = {
  node: '[N-4] [N-7] [I-1 – I-7] hold when a node is killed (-9) while quizzes are open',
  stall: '[N-4] [I-1 – I-7] hold when a node stalls, is passed over, and goes on',
  redis: '[N-9] [N-11] [N-12] [I-1 – I-7] hold when Redis is killed (-9) and has lost its memory',
  'redis-pause': '[N-9] [N-11] [I-1 – I-7] hold when Redis answers nothing for 5 s',
  postgres: '[N-10] [N-11] [I-1 – I-7] hold when PostgreSQL stops, is shut down or killed',
  promote: '[N-12] [N-14] [N-15] [I-1 – I-7] hold when a replica of Redis is promoted',
  'promote-behind': '[N-12] [I-1 – I-7] hold when a replica is promoted that lacks the last 0.7 s',
  sentinel: '[N-12] [N-14] [N-15] [I-1 – I-7] hold when Sentinels replace a Redis that died',
  'cut-to-redis': '[N-9] [N-11] [I-1 – I-7] hold when what a node sends to Redis is lost',
  'cut-from-redis': '[N-9] [N-11] [I-1 – I-7] hold when what Redis sends to a node is lost',
  'cut-both': '[N-9] [N-11] [I-1 – I-7] hold when a node and Redis are cut off',
  clock: '[N-8] [I-1 – I-7] hold when the clock of a node is off by 500 ms or an hour',
  rolling: '[N-13] [I-1 – I-7] hold when nodes are restarted one after the other',
};

// One at a time: nodes that idle take time from those that are judged. Faults of one kind follow each
// other in the list.
let open: { readonly kind: FixtureKind; readonly fixture: Fixture } | null = null;

async function closeFixture(): Promise<void> {
  await open?.fixture.close();
  open = null;
}

async function fixtureOf(kind: FixtureKind): Promise<Fixture> {
  if (open?.kind !== kind) {
    await closeFixture();
    open = { kind, fixture: await openFixture(kind) };
  }
  return open.fixture;
}

afterAll(async () => {
  await closeFixture();
  await killServers();
});

for (const fault of FAULTS) {
  const unable = (await fault.unable?.()) ?? null;
  if (unable !== null) console.log(`SKIPPED: ${TITLES[fault.name]}, because ${unable}`);
  test.skipIf(unable !== null)(
    TITLES[fault.name] ?? fault.name,
    async () => {
      const seed = Date.now() % 2 ** 31;
      console.log(`fault ${fault.name}: seed ${seed}`);
      const fixture = await fixtureOf(fault.fixture);
      const { test: rounds } = fault.rounds;
      const report = await runFault(fault, { rounds, seed, isFull: false, fixture });
      console.log(lineOf(report));
      if (report.log !== '') console.log(report.log);
      expect(report.violations.slice(0, 20)).toEqual([]);
    },
    TEST_MAX_MS,
  );
}
