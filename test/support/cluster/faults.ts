import type { RedisServer } from '../backends/redis.ts';
import { IS_FULL_RUN } from '../full-run.ts';
import type { FixtureKind } from './fixture.ts';
import { type Direction, networkSkipReason } from './network.ts';
import type { Scenario } from './scenario.ts';
import { skewedClockSkipReason } from './skewed-clock.ts';

/** A fault that is caused and repaired once a round. */
export interface Fault {
  readonly name: string;
  readonly title: string;
  readonly fixture: FixtureKind;
  /**
   * Rounds in `npm run test:full`: one for each way of the fault, since the simulation covers the
   * moments; and in `npm run faults`. `npm test` runs one.
   */
  readonly rounds: { readonly test: number; readonly full: number };
  /** Why this machine cannot cause the fault; null when it can. */
  readonly skipReason?: () => string | null | Promise<string | null>;
  /** @returns ms from each repair to the recovery */
  readonly round: (scenario: Scenario, round: number, isFull: boolean) => Promise<number[]>;
}

/** Share of the rounds that wait until a quiz is open. */
const OPEN_QUIZ_SHARE = 0.8;
const STALL_MS = 2_500;
const REDIS_PAUSE_MS = 5_000;
const POSTGRES_UNAVAILABLE_MS = 30_000;
const POSTGRES_SHORT_MS = 3_000;
/** The first outage of a test; in `npm run test:full` longer than every time limit of a node. */
const POSTGRES_FIRST_IN_TEST_MS = IS_FULL_RUN ? 12_000 : POSTGRES_SHORT_MS;
const CLOCK_OFFSETS_MS = [500, -500, 3_600_000, -3_600_000];
/** How long the service time is observed after a step of the clock. */
const CLOCK_OBSERVATION_MS = 1_500;
/** A `Date` header has whole seconds, and is updated once a second. */
const DATE_ERROR_MS = 3_000;
// N-8: the error of a clock that is read by a round trip to Redis on a busy machine.
const CLOCK_ERROR_MS = 60;

/** Every fault. Faults of the same fixture follow each other, so that tests can share it. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'node',
    title: 'a node is killed (-9) while quizzes are open',
    fixture: 'plain',
    rounds: { test: 1, full: 100 },
    async round(scenario) {
      if (scenario.random() < OPEN_QUIZ_SHARE) await scenario.waitForOpenQuiz(100);
      await scenario.sleepUpTo(300);
      return scenario.killNode(scenario.randomNode(), scenario.random() * 300);
    },
  },
  {
    name: 'stall',
    title: 'a node is suspended for a while and resumed',
    fixture: 'plain',
    rounds: { test: 1, full: 40 },
    async round(scenario) {
      if (scenario.random() < OPEN_QUIZ_SHARE) await scenario.waitForOpenQuiz(100);
      await scenario.sleepUpTo(300);
      return [await scenario.stallNode(scenario.randomNode(), scenario.random() * STALL_MS)];
    },
  },
  {
    name: 'redis',
    title: 'Redis is killed (-9) and restarts empty',
    fixture: 'plain',
    rounds: { test: 1, full: 100 },
    async round(scenario) {
      const redis = singleRedis(scenario);
      await scenario.sleepUpTo(500);
      const unavailableMs = scenario.random() * 800;
      const kill = () => redis.kill9();
      return [await scenario.breakBackend('redis', kill, unavailableMs, () => redis.restart())];
    },
  },
  {
    name: 'redis-pause',
    title: 'Redis does not respond for 5 s',
    fixture: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scenario) {
      const redis = singleRedis(scenario);
      await scenario.sleepUpTo(500);
      const pause = () => redis.pause();
      return [await scenario.breakBackend('redis', pause, REDIS_PAUSE_MS, () => redis.resume())];
    },
  },
  {
    name: 'postgres',
    title: 'PostgreSQL stops for 30 s, is shut down, or killed (-9)',
    fixture: 'plain',
    rounds: { test: 3, full: 20 },
    async round(scenario, round, isFull) {
      const { postgres } = scenario.fixture.cluster;
      const longMs = isFull ? POSTGRES_UNAVAILABLE_MS : POSTGRES_FIRST_IN_TEST_MS;
      const unavailableMs = isFull || round === 0 ? longMs : POSTGRES_SHORT_MS;
      await scenario.sleepUpTo(500);
      const [breakIt, repair] = [
        [() => postgres.pause(), () => postgres.resume()],
        [() => postgres.halt(), () => postgres.start()],
        [() => postgres.kill9(), () => postgres.start()],
      ][round % 3] as [() => Promise<void>, () => Promise<void>];
      return [await scenario.breakBackend('postgres', breakIt, unavailableMs, repair)];
    },
  },
  {
    name: 'rolling',
    title: 'nodes are restarted one after the other',
    fixture: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scenario) {
      const recoveryTimesMs: number[] = [];
      for (const node of scenario.nodes) recoveryTimesMs.push(await scenario.restartNode(node));
      return recoveryTimesMs;
    },
  },
  promoteFault('replica', 'promote', 'a replica of Redis is promoted', { test: 2, full: 20 }),
  promoteFault('behind', 'promote-behind', 'a replica that lacks the last 0.7 s is promoted', {
    test: 1,
    full: 20,
  }),
  promoteFault('sentinel', 'sentinel', 'the Redis primary is killed and Sentinels fail over', {
    test: 1,
    full: 5,
  }),
  cutFault('to-redis', 'packets to Redis are lost'),
  cutFault('from-redis', 'packets from Redis are lost'),
  cutFault('both', 'packets are lost in both directions'),
  {
    name: 'clock',
    title: 'the clock of a node is off by 500 ms or an hour, either way',
    fixture: 'clocks',
    rounds: { test: 2, full: 20 },
    skipReason: skewedClockSkipReason,
    async round(scenario, round) {
      const node = scenario.randomNode();
      const offsetMs = CLOCK_OFFSETS_MS[round % CLOCK_OFFSETS_MS.length] ?? 0;
      scenario.fixture.clocks?.[node]?.setOffset(offsetMs);
      // Every second round restarts the node with the wrong clock; the others step it while it runs.
      const recoveryTimesMs = round % 2 === 0 ? [] : [await scenario.restartNode(node)];
      for (
        const startMs = Date.now();
        Date.now() < startMs + CLOCK_OBSERVATION_MS;
        await Bun.sleep(100)
      ) {
        const errorMs = Math.max(...(await scenario.clockErrorsMs()));
        const violation = `service time is ${errorMs} ms off`;
        if (errorMs > CLOCK_ERROR_MS) scenario.checks.failTiming(violation, startMs, Date.now());
      }
      const systemErrorMs = await scenario.systemClockErrorMs(node);
      if (!(Math.abs(systemErrorMs - offsetMs) < DATE_ERROR_MS)) {
        scenario.checks.fail(`the system clock is ${systemErrorMs} ms off, not ${offsetMs}`);
      }
      return [...recoveryTimesMs, await scenario.waitForRecovery()];
    },
  },
];

function singleRedis({ fixture: { redis } }: Scenario): RedisServer {
  if (!redis) throw new Error('this fixture has several Redis servers');
  return redis;
}

function promoteFault(
  fixture: FixtureKind,
  name: string,
  title: string,
  rounds: Fault['rounds'],
): Fault {
  return {
    ...{ name, title, fixture, rounds },
    async round(scenario) {
      const { promote, pauseBeforePromotionMs = 0 } = scenario.fixture;
      if (!promote) throw new Error('this fixture has no replica');
      await Bun.sleep(pauseBeforePromotionMs);
      await scenario.sleepUpTo(500);
      return [await scenario.breakBackend('redis', promote, 0, () => {})];
    },
  };
}

function cutFault(direction: Direction, description: string): Fault {
  return {
    name: `cut-${direction}`,
    title: `the network between a node and Redis: ${description}`,
    fixture: 'network',
    rounds: { test: 1, full: 20 },
    skipReason: networkSkipReason,
    async round(scenario) {
      const { network } = scenario.fixture;
      if (!network) throw new Error('this fixture has no network');
      await scenario.sleepUpTo(500);
      const unavailableMs = 500 + scenario.random() * 2_500;
      const node = scenario.nodes.length - 1;
      const cut = () => network.cut(direction);
      return [await scenario.cutNode(node, cut, unavailableMs, network.heal)];
    },
  };
}
