import type { RedisServer } from '../backends/redis.ts';
import type { GroundKind } from './fixture.ts';
import { type Direction, noNetworkReason } from './network.ts';
import type { Scene } from './scene.ts';
import { noFalseClockReason } from './skewed-clock.ts';

/** A way in which things break, and what is done about it, over and over. */
export interface Fault {
  readonly name: string;
  /** What happens. */
  readonly title: string;
  readonly ground: GroundKind;
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
const POSTGRES_AWAY_MS = 30_000;
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
    ground: 'plain',
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
    ground: 'plain',
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
    ground: 'plain',
    rounds: { test: 4, full: 100 },
    async round(scene) {
      const redis = soleRedis(scene);
      await scene.sleepUpTo(500);
      const awayMs = scene.random() * 800;
      const kill = () => redis.kill9();
      return [await scene.backendAway('redis', kill, awayMs, () => redis.restart())];
    },
  },
  {
    name: 'redis-pause',
    title: 'Redis answers nothing for 5 s',
    ground: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scene) {
      const redis = soleRedis(scene);
      await scene.sleepUpTo(500);
      const pause = () => redis.pause();
      return [await scene.backendAway('redis', pause, REDIS_PAUSE_MS, () => redis.resume())];
    },
  },
  {
    name: 'postgres',
    title: 'PostgreSQL stops for 30 s, is shut down, or killed (-9)',
    ground: 'plain',
    rounds: { test: 3, full: 20 },
    async round(scene, round, isFull) {
      const { postgres } = scene.ground.cluster;
      const longMs = isFull ? POSTGRES_AWAY_MS : POSTGRES_LONG_IN_TEST_MS;
      const awayMs = isFull || round === 0 ? longMs : POSTGRES_SHORT_MS;
      await scene.sleepUpTo(500);
      const [breakIt, repair] = [
        [() => postgres.pause(), () => postgres.resume()],
        [() => postgres.halt(), () => postgres.start()],
        [() => postgres.kill9(), () => postgres.start()],
      ][round % 3] as [() => Promise<void>, () => Promise<void>];
      return [await scene.backendAway('postgres', breakIt, awayMs, repair)];
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
    ground: 'clocks',
    rounds: { test: 2, full: 20 },
    unable: noFalseClockReason,
    async round(scene, round) {
      const node = scene.anyNode();
      const offsetMs = CLOCK_OFFSETS_MS[round % CLOCK_OFFSETS_MS.length] ?? 0;
      scene.ground.clocks?.[node]?.step(offsetMs);
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
    ground: 'plain',
    rounds: { test: 1, full: 20 },
    async round(scene) {
      const times: number[] = [];
      for (const node of scene.nodes) times.push(await scene.restartNode(node));
      return times;
    },
  },
];

function soleRedis({ ground: { redis } }: Scene): RedisServer {
  if (!redis) throw new Error('there are several servers');
  return redis;
}

function promoteFault(
  ground: GroundKind,
  name: string,
  title: string,
  rounds: Fault['rounds'],
): Fault {
  return {
    ...{ name, title, ground, rounds },
    async round(scene) {
      const { promote, restMs = 0 } = scene.ground;
      if (!promote) throw new Error('there is no replica');
      await Bun.sleep(restMs);
      await scene.sleepUpTo(500);
      return [await scene.backendAway('redis', promote, 0, () => {})];
    },
  };
}

function cutFault(direction: Direction, what: string): Fault {
  return {
    name: `cut-${direction}`,
    title: `a cable is cut: ${what}`,
    ground: 'network',
    rounds: { test: 1, full: 20 },
    unable: noNetworkReason,
    async round(scene) {
      const { network } = scene.ground;
      if (!network) throw new Error('there is no network');
      await scene.sleepUpTo(500);
      const awayMs = 500 + scene.random() * 2_500;
      const node = scene.nodes.length - 1;
      const cut = () => network.cut(direction);
      return [await scene.cutNode(node, cut, awayMs, network.heal)];
    },
  };
}
