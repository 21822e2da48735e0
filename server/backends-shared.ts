import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type Backends, type BackendsOptions, serviceClock } from './backends.ts';
import { redisBeat } from './beat-redis.ts';
import { procedures } from './procedures.ts';
import { openRedis } from './redis/open-redis.ts';
import { openRedisClock } from './redis/redis-clock.ts';
import { Unavailable } from './refusal.ts';
import { openPostgresRecord } from './sql/record-postgres.ts';

// What is away is tried again this often, and said again every so many times.
const RETRY_MS = 500;
const SAID_EVERY = 20;

/**
 * The backends of one node among several: the record in PostgreSQL, the beat in Redis. While one
 * is away it goes on trying (N-2).
 * @throws Error with a line for the operator about what does not heal by itself
 */
export async function openShared({ config, logger }: BackendsOptions): Promise<Backends> {
  const { database, redis: redisUrl, redisReplicas } = config;
  if (database === null || redisUrl === null) throw new Error('--database and --redis are needed');
  const redis = await whenReached('Redis (--redis)', logger, () =>
    openRedis({ url: redisUrl, replicas: redisReplicas, logger }),
  );
  try {
    const clock = await openRedisClock({ redis, logger });
    const record = await whenReached('PostgreSQL (--database)', logger, () =>
      openPostgresRecord({ procedures, url: database, logger }),
    );
    const watermark = await record.calls.readWatermark({});
    return {
      record,
      watermark,
      clock: serviceClock(clock.systemMs, watermark, logger),
      makeBeat: redisBeat({ redis, nodeId: randomUUID() }),
      servers: [
        { name: 'redis', away: () => redis.away() },
        { name: 'postgres', away: () => record.away() },
      ],
      place: `record in ${placeOf(database)}`,
      end: async () => {
        await record.close();
        clock.close();
        await redis.close();
      },
      release: () => {},
    };
  } catch (error) {
    await redis.close();
    throw error;
  }
}

async function whenReached<T>(name: string, logger: Logger, open: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (tries % SAID_EVERY === 0) {
        logger.warn({ reason: error.message }, `${name} cannot be reached; trying again`);
      }
    }
    await Bun.sleep(RETRY_MS);
  }
}

function placeOf(database: string): string {
  const { host, pathname } = new URL(database);
  return `${host}${pathname}`;
}
