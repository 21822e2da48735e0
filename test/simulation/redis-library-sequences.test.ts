import { afterAll, expect, test } from 'bun:test';
import pino from 'pino';
import { openRedis } from '../../server/storage/redis/open-redis.ts';
import { PATIENT_ENVIRONMENT } from '../support/backends/patient-environment.ts';
import { startRedis } from '../support/backends/redis.ts';
import { openCommandConnection } from '../support/backends/redis-program.ts';
import { rounds } from '../support/full-run.ts';
import { seededRandom } from '../support/seeded-random.ts';
import {
  LibraryReplay,
  STEPPED_LIBRARY,
  setTimeCall,
} from '../support/simulation/redis/library-replay.ts';
import { LibrarySequence } from '../support/simulation/redis/library-sequence.ts';
import { createRedisModel, type RedisModel } from '../support/simulation/redis/redis-model.ts';

const START_MS = 1_800_000_000_000;
const FIRST_SEED = 1;
const SEQUENCES = rounds(12, 200);
const TEST_MS = rounds(60_000, 300_000);
const STEPS = 400;
/** A time to live in the real server until the test deletes the key. */
const HELD_MS = 10_000_000;
/** Redis reads the clock of the machine, which may be set by some milliseconds, and the test does not. */
const TTL_TOLERANCE_MS = 100;

const server = await startRedis({ persistence: false });
const commands = openCommandConnection(server.port);
const logger = pino({ level: 'silent' });
const redis = await openRedis({
  ...{ url: server.url, replicas: 0, logger, library: STEPPED_LIBRARY },
  // A call that is repeated would have another reply.
  environment: PATIENT_ENVIRONMENT,
});
afterAll(async () => {
  await redis.close();
  commands.close();
  await server.stop();
});

/** Runs a random sequence on the real server and on the model, and compares each reply. */
async function compare(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const clock = { nowMs: START_MS + random() * 1_000, monotonicMs: 0 };
  const model = createRedisModel({
    nowMs: () => clock.monotonicMs,
    environment: { monotonicMs: () => clock.monotonicMs, setTimer: () => () => {}, random },
    library: STEPPED_LIBRARY,
  });
  const sequence = new LibrarySequence(random, () => clock.nowMs);
  const real = new LibraryReplay({
    call: (call) => redis.call(call),
    command: (...words) => commands.command(...words),
  });
  const modeled = new LibraryReplay({
    call: async (call) => model.call(call),
    command: async (...words) => model.command(...words),
  });
  await commands.command('FLUSHALL');
  const setTime = async () => {
    await redis.call(setTimeCall(clock.nowMs));
    model.call(setTimeCall(clock.nowMs));
  };
  await setTime();
  let passMs = performance.now();
  for (let number = 0; number < STEPS; number += 1) {
    const step = sequence.next();
    const context = { seed, number, step };
    expect({ ...context, reply: await modeled.execute(step) }).toEqual({
      ...context,
      reply: await real.execute(step),
    });
    if (step.kind === 'pass' || step.kind === 'step') {
      clock.nowMs += step.ms;
      if (step.kind === 'pass') {
        await expectTimesToLive(model, performance.now() - passMs, context);
        clock.monotonicMs += step.ms;
        await expireInServer(model);
        passMs = performance.now();
      }
      await setTime();
    }
    if (number % 20 === 0) expect(await modeled.dump()).toEqual(await real.dump());
  }
}

/**
 * Both have the same keys, and those that were written since the last pass live equally long. In the
 * server they have lived for up to the real time since the last pass; in the model no time has passed.
 */
async function expectTimesToLive(
  model: RedisModel,
  sincePassMs: number,
  context: object,
): Promise<void> {
  const [keys, serverKeys] = [model.command('KEYS', '*'), await commands.command('KEYS', '*')];
  expect({ ...context, keys: sorted(keys) }).toEqual({ ...context, keys: sorted(serverKeys) });
  const startMs = performance.now();
  for (const key of keys as string[]) {
    const serverMs = Number(await commands.command('PTTL', key));
    if (serverMs > HELD_MS / 2) continue;
    const ms = Number(model.command('PTTL', key));
    const livedMs = sincePassMs + performance.now() - startMs;
    const isEqual =
      serverMs <= ms + TTL_TOLERANCE_MS && serverMs >= ms - livedMs - TTL_TOLERANCE_MS;
    expect({ ...context, key, ms, serverMs, isEqual }).toEqual({
      ...{ ...context, key, ms, serverMs },
      isEqual: true,
    });
  }
}

/** Deletes what has expired in the model from the server, and keeps the rest there until the next pass. */
async function expireInServer(model: RedisModel): Promise<void> {
  const keys = new Set(model.command('KEYS', '*') as string[]);
  for (const key of (await commands.command('KEYS', '*')) as string[]) {
    await (keys.has(key)
      ? commands.command('PEXPIRE', key, HELD_MS)
      : commands.command('DEL', key));
  }
}

const sorted = (keys: unknown): string[] => (keys as string[]).toSorted();

test(
  '[I-5] [N-4] [N-8] [N-12] [C-15] the model of Redis replies as Redis does, in random sequences of all functions',
  async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEQUENCES; seed += 1) await compare(seed);
  },
  TEST_MS,
);
