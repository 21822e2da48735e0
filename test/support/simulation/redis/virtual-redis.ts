import pino from 'pino';
import { openRedis } from '../../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../../server/storage/redis/redis.ts';
import { Scheduler } from '../../scheduler.ts';
import { seededRandom } from '../../seeded-random.ts';
import { createModelEnvironment, type ModelEnvironment } from './model-environment.ts';
import { createRedisModel, type RedisModel, type RedisModelOptions } from './redis-model.ts';

/** One direction of a link; tests replace the function. */
export interface LinkDelay {
  /** Delay of the next message, in ms; null loses it. */
  next(): number | null;
}

export interface VirtualRedisOptions extends Partial<RedisModelOptions> {
  readonly seed?: number;
  /** How many replicas confirm a write. */
  readonly replicas?: number;
}

/** The duration of a call in virtual time, and its result or error. */
export interface TimedOutcome<T> {
  readonly outcome: T | Error;
  readonly ms: number;
}

const START_MS = 1_800_000_000_000;
const SETTLED_MAX_MS = 10_000;
const LOGGER = pino({ level: 'silent' });

/** A model of Redis in virtual time, and one node that is connected to it. */
export class VirtualRedis {
  private constructor(
    readonly scheduler: Scheduler,
    readonly model: RedisModel,
    readonly environment: ModelEnvironment,
    readonly redis: Redis,
    readonly toServer: LinkDelay,
    readonly toClient: LinkDelay,
  ) {}

  static open({ seed = 1, replicas = 0, ...options }: VirtualRedisOptions = {}): VirtualRedis {
    const scheduler = new Scheduler(START_MS);
    const timers = {
      monotonicMs: () => scheduler.nowMs,
      setTimer: (run: () => void, ms: number) => scheduler.after(ms, run),
      random: seededRandom(seed),
    };
    const server = createRedisModel({
      nowMs: () => scheduler.nowMs,
      environment: timers,
      ...options,
    });
    const [toServer, toClient]: [LinkDelay, LinkDelay] = [{ next: () => 1 }, { next: () => 1 }];
    const deliver = (delay: LinkDelay) => (arrive: () => void) => {
      const ms = delay.next();
      if (ms !== null) scheduler.after(ms, arrive);
    };
    const link = { toServer: deliver(toServer), toClient: deliver(toClient) };
    const environment = createModelEnvironment({ server, link, timers });
    const { library } = server;
    const redis = unwrap(
      timedOn(
        scheduler,
        openRedis({ url: 'redis://model', replicas, logger: LOGGER, library, environment }),
      ),
    );
    return new VirtualRedis(scheduler, server, environment, redis, toServer, toClient);
  }

  /** Passes time. */
  pass(ms: number): void {
    this.scheduler.advance(ms);
  }

  /** Passes time until a promise settles, 10 s at most. @throws its error, or Error on timeout */
  settled<T>(promise: Promise<T>): T {
    return unwrap(this.timed(promise));
  }

  /** Passes time until a promise settles, 10 s at most. */
  timed<T>(promise: Promise<T>): TimedOutcome<T> {
    return timedOn(this.scheduler, promise);
  }
}

function timedOn<T>(scheduler: Scheduler, promise: Promise<T>): TimedOutcome<T> {
  const startMs = scheduler.nowMs;
  const settled: (T | Error)[] = [];
  promise.then(
    (value) => settled.push(value),
    (error: Error) => settled.push(error),
  );
  scheduler.advance(0);
  while (settled.length === 0 && scheduler.nowMs < startMs + SETTLED_MAX_MS) scheduler.advance(1);
  if (settled.length === 0) settled.push(new Error('the promise did not settle'));
  return { outcome: settled[0] as T | Error, ms: scheduler.nowMs - startMs };
}

function unwrap<T>({ outcome }: TimedOutcome<T>): T {
  if (outcome instanceof Error) throw outcome;
  return outcome;
}
