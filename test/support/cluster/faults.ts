import type { RedisServer } from '../backends/redis.ts';
import type { FixtureKind } from './fixture.ts';
import { type Direction, noNetworkReason } from './network.ts';
import type { Scene } from './scene.ts';
import { noFalseClockReason } from './skewed-clock.ts';

/** A way in which things break, and what is done about it, over and over. */
export interface Fault {
  readonly name: string;
  /** What happens. */
  readonly title: string;
  readonly fixture: FixtureKind;
  /** Rounds in `npm test`, and in `npm run faults`. */
  readonly rounds: { readonly test: number; readonly full: number };
  /** Why it cannot be done on this machine; null: it can. */
  readonly unable?: () => string | null | Promise<string | null>;
  /** @returns ms from each repair until everything was right again */
  readonly round: (scene: Scene, round: number, isFull: boolean) => Promise<number[]>;
}

/** Share of the kills that wait for a quiz to be open. */
const MID_QUIZ = 0.8;
const STALL_MS = 2_500;
const REDIS_PAUSE_MS = 5_000;
const POSTGRES_UNAVAILABLE_MS = 30_000;
const POSTGRES_SHORT_MS = 3_000;
const POSTGRES_LONG_IN_TEST_MS = 12_000;
const CLOCK_OFFSETS_MS = [500, -500, 3_600_000, -3_600_000];
/** How long a wrong clock has to do harm. */
const CLOCK_MS = 1_500;
/** A `Date` header has whole seconds, and is made anew once a second. */
const DATE_ERROR_MS = 3_000;
// N-8: as far as a round trip to Redis can be read wrong on a busy machine.
const CLOCK_ERROR_MS = 60;

export const FAULTS: readonly Fault[] = [
  {
    name: 'node',
    title: 'a node is killed (-9) while quizzes are open',
    fixture: 'plain',
    rounds: { test: 4, full: 100 },
    async round(scene) {
      if (scene.random() < MID_QUIZ) await scene.quizOpen(100);
      await scene.sleepUpTo(300);
      return scene.killNode(scene.anyNode(), scene.random() * 300);
    },
  },
  {
    name: 'stall',
    title: 'a node does not run for a while, and then goes on where it was',
    fixture: 'plain',
    rounds: { test: 1, full: 40 },
    async round(scene) {
      if (scene.random() < MID_QUIZ) await scene.quizOpen(100);
      await scene.sleepUpTo(300);
      return [await scene.stallNode(scene.anyNode(), scene.random() * STALL_MS)];
    },
  },
  {
    name: 'redis',
    title: 'Redis is killed (-9), and starts again without its memory',
    fixture: 'plain',
    rounds: { test: 4, full: 100 },
    async round(scene) {
      const redis = soleRedis(scene);
      await scene.sleepUpTo(500);
      const unavailableMs = scene.random() * 800;
      const kill = () => redis.kill9();
      return [await scene.backendUnavailable('redis', kill, unavailableMs, () => redis.restart())];
    },
  },
  {
    name: 'redis-pause',
    title: 'Redis answers nothing for 5 s',
    fixture: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scene) {
      const redis = soleRedis(scene);
      await scene.sleepUpTo(500);
      const pause = () => redis.pause();
      return [await scene.backendUnavailable('redis', pause, REDIS_PAUSE_MS, () => redis.resume())];
    },
  },
  {
    name: 'postgres',
    title: 'PostgreSQL stops for 30 s, is shut down, or killed (-9)',
    fixture: 'plain',
    rounds: { test: 3, full: 20 },
    async round(scene, round, isFull) {
      const { postgres } = scene.fixture.cluster;
      const longMs = isFull ? POSTGRES_UNAVAILABLE_MS : POSTGRES_LONG_IN_TEST_MS;
      const unavailableMs = isFull || round === 0 ? longMs : POSTGRES_SHORT_MS;
      await scene.sleepUpTo(500);
      const [breakIt, repair] = [
        [() => postgres.pause(), () => postgres.resume()],
        [() => postgres.halt(), () => postgres.start()],
        [() => postgres.kill9(), () => postgres.start()],
      ][round % 3] as [() => Promise<void>, () => Promise<void>];
      return [await scene.backendUnavailable('postgres', breakIt, unavailableMs, repair)];
    },
  },
  promoteFault('replica', 'promote', 'a replica of Redis is promoted', { test: 2, full: 20 }),
  promoteFault('behind', 'promote-behind', 'a replica that lacks the last 0.7 s is promoted', {
    test: 2,
    full: 20,
  }),
  promoteFault('sentinel', 'sentinel', 'the leading Redis is killed, and Sentinels act', {
    test: 1,
    full: 5,
  }),
  cutFault('to-redis', 'what a node sends to Redis is lost'),
  cutFault('from-redis', 'what Redis sends to a node is lost'),
  cutFault('both', 'a node and Redis hear nothing of each other'),
  {
    name: 'clock',
    title: 'the clock of a node is off by 500 ms or an hour, either way',
    fixture: 'clocks',
    rounds: { test: 2, full: 20 },
    unable: noFalseClockReason,
    async round(scene, round) {
      const node = scene.anyNode();
      const offsetMs = CLOCK_OFFSETS_MS[round % CLOCK_OFFSETS_MS.length] ?? 0;
      scene.fixture.clocks?.[node]?.step(offsetMs);
      // Every other time it starts with the wrong clock; else it is set while it runs.
      const times = round % 2 === 0 ? [] : [await scene.restartNode(node)];
      for (const startMs = Date.now(); Date.now() < startMs + CLOCK_MS; await Bun.sleep(100)) {
        const mostMs = Math.max(...(await scene.clockErrors()));
        const found = `service time is ${mostMs} ms off`;
        if (mostMs > CLOCK_ERROR_MS) scene.judgement.late(found, startMs, Date.now());
      }
      const isOffMs = await scene.systemClockError(node);
      if (!(Math.abs(isOffMs - offsetMs) < DATE_ERROR_MS)) {
        scene.judgement.wrong(`its system clock is ${isOffMs} ms off, not ${offsetMs}`);
      }
      return [...times, await scene.rightAgain()];
    },
  },
  {
    name: 'rolling',
    title: 'nodes are restarted one after the other',
    fixture: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scene) {
      const times: number[] = [];
      for (const node of scene.nodes) times.push(await scene.restartNode(node));
      return times;
    },
  },
];

function soleRedis({ fixture: { redis } }: Scene): RedisServer {
  if (!redis) throw new Error('there are several servers');
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
    async round(scene) {
      const { promote, restMs = 0 } = scene.fixture;
      if (!promote) throw new Error('there is no replica');
      await Bun.sleep(restMs);
      await scene.sleepUpTo(500);
      return [await scene.backendUnavailable('redis', promote, 0, () => {})];
    },
  };
}

function cutFault(direction: Direction, what: string): Fault {
  return {
    name: `cut-${direction}`,
    title: `a cable is cut: ${what}`,
    fixture: 'network',
    rounds: { test: 1, full: 20 },
    unable: noNetworkReason,
    async round(scene) {
      const { network } = scene.fixture;
      if (!network) throw new Error('there is no network');
      await scene.sleepUpTo(500);
      const unavailableMs = 500 + scene.random() * 2_500;
      const node = scene.nodes.length - 1;
      const cut = () => network.cut(direction);
      return [await scene.cutNode(node, cut, unavailableMs, network.heal)];
    },
  };
}
