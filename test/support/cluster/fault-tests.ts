import { afterAll, expect, test } from 'bun:test';
import { IS_FULL_RUN } from '../full-run.ts';
import { killServers } from '../harness/program.ts';
import { runFault, summaryOf } from './fault-run.ts';
import { FAULTS, type Fault } from './faults.ts';
import { type Fixture, type FixtureKind, openFixture } from './fixture.ts';

/** Above every limit of a round, so that a fault fails by its own limits. */
const TEST_TIMEOUT_MS = 240_000;

const TITLES: Record<string, string> = {
  node: '[N-4] [N-7] [I-1 – I-7] hold when a node is killed (-9) while quizzes are open',
  stall: '[N-4] [I-1 – I-7] hold when a node stalls, others seal without it, and it resumes',
  redis: '[N-9] [N-11] [N-12] [I-1 – I-7] hold when Redis is killed (-9) and restarts empty',
  'redis-pause': '[N-9] [N-11] [I-1 – I-7] hold when Redis does not respond for 5 s',
  postgres: '[N-10] [N-11] [I-1 – I-7] hold when PostgreSQL stalls, is shut down or killed',
  rolling: '[N-13] [I-1 – I-7] hold when nodes are restarted one after the other',
  promote: '[N-12] [N-14] [N-15] [I-1 – I-7] hold when a replica of Redis is promoted',
  'promote-behind': '[N-12] [I-1 – I-7] hold when a promoted replica lacks the last 0.7 s',
  sentinel: '[N-12] [N-14] [N-15] [I-1 – I-7] hold when Sentinels replace a killed Redis',
  'cut-to-redis': '[N-9] [N-11] [I-1 – I-7] hold when packets of a node to Redis are lost',
  'cut-from-redis': '[N-9] [N-11] [I-1 – I-7] hold when packets of Redis to a node are lost',
  'cut-both': '[N-9] [N-11] [I-1 – I-7] hold when a node and Redis are cut off',
  clock: '[N-8] [I-1 – I-7] hold when the clock of a node is off by 500 ms or an hour',
};

// One fixture at a time: the nodes of another would take processor time from those under test.
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

/** Combines the faults of a fixture into one fault, whose round n causes the fault n. */
function combineFaults(faults: readonly Fault[]): Fault {
  const [first] = faults as [Fault];
  return {
    ...first,
    name: faults.map(({ name }) => name).join('+'),
    rounds: { test: faults.length, full: faults.length },
    round: (scenario, round, isFull) => (faults[round] ?? first).round(scenario, 0, isFull),
  };
}

/** The title of each fault, or for several `[all rules] hold when a; when b`. */
function titleOf(faults: readonly Fault[]): string {
  const titles = faults.map(({ name }) => (TITLES[name] ?? name).split(' hold '));
  const rules = new Set(titles.flatMap(([ids = '']) => ids.match(/\[[^\]]+\]/g) ?? []));
  return `${[...rules].join(' ')} hold ${titles.map(([, when]) => when).join('; ')}`;
}

/** Tests the faults of these fixtures. The checks use only what clients sent and received. */
export async function testFaults(...kinds: readonly FixtureKind[]): Promise<void> {
  const tested = FAULTS.filter(({ fixture }) => kinds.includes(fixture));
  const faultGroups = IS_FULL_RUN
    ? tested.map((fault) => [fault])
    : [...Map.groupBy(tested, ({ fixture }) => fixture).values()];

  afterAll(async () => {
    await closeFixture();
    await killServers();
  });

  for (const faults of faultGroups) {
    const fault = faults.length === 1 ? (faults[0] as Fault) : combineFaults(faults);
    const title = titleOf(faults);
    const skipReason = (await fault.skipReason?.()) ?? null;
    if (skipReason !== null) console.log(`SKIPPED: ${title}, because ${skipReason}`);
    test.skipIf(skipReason !== null)(
      title,
      async () => {
        const seed = Date.now() % 2 ** 31;
        console.log(`fault ${fault.name}: seed ${seed}`);
        const fixture = await fixtureOf(fault.fixture);
        const rounds = IS_FULL_RUN ? fault.rounds.test : faults.length;
        const report = await runFault(fault, { rounds, seed, isFull: false, fixture });
        console.log(summaryOf(report));
        if (report.log !== '') console.log(report.log);
        expect(report.violations.slice(0, 20)).toEqual([]);
      },
      TEST_TIMEOUT_MS,
    );
  }
}
