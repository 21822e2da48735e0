import { afterAll } from 'bun:test';
import pino from 'pino';
import { openRedis } from '../../../../server/storage/redis/open-redis.ts';
import { PROCESS_ENVIRONMENT } from '../../../../server/storage/redis/process-environment.ts';
import type { Redis } from '../../../../server/storage/redis/redis.ts';
import { createModelEnvironment } from './model-environment.ts';
import { createRedisModel, type RedisModel } from './redis-model.ts';

/** A model in real time, in place of a server. */
export interface ModelServer {
  readonly model: RedisModel;
  /** Executes one command, as `RedisServer` does. */
  command(...words: (string | number)[]): Promise<unknown>;
  /** As of `RedisServer`. A restart reads the append-only file, if there is one. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
  /** Connects to it. The caller closes the connection. */
  open(options?: { readonly replicas?: number }): Promise<Redis>;
}

/** Starts a model in real time. */
export function startModel(options: { readonly appendOnlyFile?: boolean } = {}): ModelServer {
  const model = createRedisModel({
    ...options,
    nowMs: () => performance.timeOrigin + performance.now(),
    environment: PROCESS_ENVIRONMENT,
  });
  const environment = createModelEnvironment({
    server: model,
    link: { toServer: queueMicrotask, toClient: queueMicrotask },
    timers: PROCESS_ENVIRONMENT,
  });
  const logger = pino({ level: 'silent' });
  return {
    model,
    command: async (...words) => model.command(...words),
    kill9: async () => model.stop(),
    restart: async () => model.restart({ keepsData: options.appendOnlyFile === true }),
    pause: () => model.pause(),
    resume: () => model.resume(),
    open: ({ replicas = 0 } = {}) =>
      openRedis({ url: 'redis://model', replicas, logger, environment }),
  };
}

/** A model for all tests of the calling file, and a connection to it. */
export async function modelOfFile(
  options: { readonly appendOnlyFile?: boolean } = {},
): Promise<{ server: ModelServer; redis: Redis }> {
  const server = startModel(options);
  const redis = await server.open();
  afterAll(() => redis.close());
  return { server, redis };
}
