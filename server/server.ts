import type { Server } from 'bun';
import type { Logger } from 'pino';
import { intervalStartMs } from '../protocol/interval.ts';
import { createClock, type ServiceClock } from './clock.ts';
import type { Config } from './config.ts';
import { documentRoutes } from './http/docs.ts';
import { listen } from './http/listen.ts';
import { operatorRoutes } from './http/operator-routes.ts';
import type { Listener } from './http/route.ts';
import { createMetrics, newSealLateness } from './metrics.ts';
import { procedures } from './procedures.ts';
import { createService } from './service.ts';
import { type DirectoryLock, lockDirectory } from './sql/lock.ts';
import { type OpenRecord, openRecord } from './sql/record-sqlite.ts';

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Of the program. */
  readonly version: string;
  /** Told when nothing can be recorded any more: the process should end and start again. */
  readonly onLost: (reason: string) => void;
}

/** A whole server that listens. */
export interface RunningServer {
  /** Where a person on this machine reaches it. */
  readonly url: string;
  readonly port: number;
  /**
   * Drains (O-11): answers what is held, ends event streams, closes the port, commits and seals
   * what was accepted and gives the data directory free. Answers that are not written after
   * `graceMs` are cut.
   * @returns whether no answer had to be cut
   */
  stop(graceMs: number): Promise<boolean>;
}

// How often the requests that are still being answered are counted during the drain.
const DRAIN_POLL_MS = 10;

// Service time that is further ahead than this is worth a line in the log.
const AHEAD_WARN_MS = 1_000;

// The last interval ends within 250 ms and a record that fails is tried for a second; the rest is
// for a disk that is stuck.
const COMMIT_GRACE_MS = 2_000;

/**
 * Starts everything on one data directory and one port, and resolves when it is ready.
 * @throws Error with a line for the operator: the directory is in use, cannot be written or holds
 *   a newer record; the port is in use.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const lock = lockData(options.config.data);
  try {
    return await startOnDirectory(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function lockData(directory: string): DirectoryLock {
  try {
    return lockDirectory(directory);
  } catch (error) {
    // The reason begins with the directory.
    throw new Error(`--data ${(error as Error).message}`);
  }
}

async function startOnDirectory(options: ServerOptions, lock: DirectoryLock) {
  const record = await openRecord({
    procedures,
    worker: new URL('./record-worker.ts', import.meta.url),
    directory: options.config.data,
    onLost: options.onLost,
  }).catch((error: Error) => {
    throw new Error(
      `the record in ${options.config.data} (--data) cannot be opened: ${error.message}`,
    );
  });
  try {
    return await startOnRecord(options, lock, record);
  } catch (error) {
    await record.close();
    throw error;
  }
}

async function startOnRecord(
  { config, logger, version }: ServerOptions,
  lock: DirectoryLock,
  record: OpenRecord<typeof procedures>,
): Promise<RunningServer> {
  const watermark = await record.calls.readWatermark({});
  const clock = createClock({
    systemMs: Date.now,
    monotonicMs: () => performance.now(),
    notBeforeMs: intervalStartMs(watermark + 1),
    onStep: (skippedMs) => logger.warn({ skippedMs }, 'service time stepped to the system clock'),
  });
  warnWhenAhead(clock, logger);
  const sealLateness = newSealLateness();
  const listener: Listener = { server: null };
  const service = await createService(
    { config, record: record.calls, clock, logger, watermark, listener, random: Math.random },
    (latenessMs) => sealLateness.add(latenessMs / 1000),
  );
  const metrics = createMetrics({
    ...service.stats,
    version,
    sealLateness,
    requests: () => service.stats.requests.counters,
    answers: () => service.stats.answers,
    recordPending: () => record.pending(),
    clockOffsetMs: () => clock.offsetMs(),
  });
  const { host, port, corsOrigin } = config;
  const common = { corsOrigin, log: service.stats.requests };
  const routes = {
    ...service.routes,
    ...documentRoutes({ version, ...common }),
    ...operatorRoutes({ unready: service.unready, metrics, ...common }),
  };
  const server = listen({ host, port, routes, fetch: service.fetch, ...common });
  listener.server = server;
  service.begin();
  await service.seal();

  async function drain(): Promise<void> {
    await service.drain();
    void server.stop();
    // Its promise waits for every connection, also for one that never finishes its request. The
    // count has each request that is whole, until its answer is written.
    while (server.pendingRequests > 0) await Bun.sleep(DRAIN_POLL_MS);
    await server.stop(true);
  }

  async function commit(): Promise<void> {
    await service.end();
    await record.close();
  }

  return {
    url: addressOf(server, config.host),
    port: server.port ?? config.port,
    async stop(graceMs) {
      const calm = await endsWithin(graceMs, drain());
      if (!calm) void server.stop(true);
      const committed = await endsWithin(COMMIT_GRACE_MS, commit());
      lock.release();
      return calm && committed;
    },
  };
}

/** A record from a time when the system clock was ahead holds service time ahead, too (K-6). */
function warnWhenAhead(clock: ServiceClock, logger: Logger): void {
  const aheadMs = clock.offsetMs();
  if (aheadMs <= AHEAD_WARN_MS) return;
  logger.warn(
    { aheadMs },
    `service time is ${Math.round(aheadMs / 1000)} s ahead of the system clock: intervals up to ` +
      'then are sealed and stay so; service time comes back by 1 % of the time that passes',
  );
}

function addressOf(server: Server<undefined>, host: string | null): string {
  const name = host === null || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${server.port}`;
}

/** Whether a promise was fulfilled in time. One that is late may still go on. */
async function endsWithin(ms: number, work: Promise<void>): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = work.then(() => true);
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
