import { newSetupLink } from '../auth/members/links.ts';
import { listen } from '../gateway/listen.ts';
import { listenWithWorkers } from '../gateway/workers/listen-with-workers.ts';
import { WorkerPool } from '../gateway/workers/worker-pool.ts';
import type { Listener } from '../http/address.ts';
import { operatorRoutes } from '../http/operator-routes.ts';
import { createMetrics, createSealLatencyHistogram } from '../platform/metrics.ts';
import { displayRoutes } from '../web/display-page.ts';
import { documentRoutes } from '../web/docs.ts';
import { studioPageRoutes } from '../web/studio-page.ts';
import { watchRoutes } from '../web/watch-page.ts';
import type { Backends, BackendsOptions, OpenBackends } from './backends.ts';
import { createService } from './service.ts';

export interface ServerOptions extends BackendsOptions {
  /** Of the program. */
  readonly version: string;
  readonly openBackends: OpenBackends;
}

/** A whole server that listens. */
export interface RunningServer {
  /** Where a person on this machine reaches it. */
  readonly url: string;
  readonly port: number;
  /** Where the database is, for people. */
  readonly place: string;
  /**
   * A new link that makes the first account and its owner; null when there is a member already, or no
   * studio here.
   */
  newSetupLink(): Promise<string | null>;
  /**
   * Drains (O-11): answers what is held, ends event streams, closes the port, commits and seals
   * what was accepted and gives the data directory free. Answers that are not made after `graceMs`
   * are cut.
   * @returns whether none had to be cut, but for clients that do not take theirs
   */
  stop(graceMs: number): Promise<boolean>;
}

// The last interval ends within 250 ms and a record that fails is tried for a second; the rest is
// for a disk that is stuck.
const COMMIT_GRACE_MS = 2_000;

/**
 * Starts everything on its backends and one port, and resolves when it is ready.
 * @throws Error with a line for the operator: what a backend says, or that the port is in use
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const backends = await options.openBackends(options);
  try {
    return await startOn(options, backends);
  } catch (error) {
    await backends.end();
    backends.release();
    throw error;
  }
}

async function startOn(
  { config, logger, version, onFailed }: ServerOptions,
  backends: Backends,
): Promise<RunningServer> {
  const { database, clock, watermark, createRealtime } = backends;
  const sealLatency = createSealLatencyHistogram();
  const listener: Listener = { server: null };
  const serviceOptions = {
    config,
    store: database.store,
    clock,
    logger,
    createRealtime,
    watermark,
    listener,
    random: Math.random,
  };
  const onSealed = (latenessMs: number) => sealLatency.add(latenessMs / 1000);
  const service = await backends.reach(() => createService(serviceOptions, onSealed));
  const metrics = createMetrics({
    ...service.stats,
    version,
    sealLatency,
    requests: () => service.stats.requests.counters,
    answersByDecision: () => Object.entries(service.stats.answers),
    backends: backends.servers,
    databasePendingCalls: () => database.pending(),
    clockOffsetMs: () => clock.offsetMs(),
  });
  const { host, port, corsOrigin, edgeCache } = config;
  const common = { corsOrigin, log: service.stats.requests };
  const routes = {
    ...service.routes,
    ...documentRoutes({ version, ...common }),
    ...watchRoutes(common),
    ...(config.roles.has('studio') && {
      ...studioPageRoutes(common),
      ...displayRoutes(common),
    }),
    ...operatorRoutes({
      unready: () => service.unready() ?? unavailableOf(backends),
      metrics,
      ...common,
    }),
  };
  const { fetch, sockets, gatewayBackend } = service;
  const asked = { host, port, edgeCache, listener, routes, fetch, sockets, ...common };
  const threads =
    config.workers === 1
      ? null
      : new WorkerPool({
          ...service.workerServices,
          backend: gatewayBackend,
          count: config.workers,
          onDefect: (reason) =>
            logger.error({ reason }, 'a failure in a worker thread'),
          onFailed,
        });
  const server = threads ? await listenWithWorkers(threads, asked) : listen({ ...asked, backend: gatewayBackend });
  // To look for ffmpeg and open the ports for video takes a moment; all else is ready before.
  void service.begin();
  await service.seal();

  async function drain(): Promise<void> {
    await Promise.all([service.drain(), threads?.drain()]);
    await server.drain();
  }

  async function commit(): Promise<void> {
    await service.end();
    await backends.end();
  }

  const { url } = server;
  return {
    place: backends.place,
    url,
    port: server.port,
    newSetupLink: async () =>
      config.roles.has('studio')
        ? newSetupLink(database.store, config.publicUrl ?? url, clock.nowMs())
        : null,
    async stop(graceMs) {
      const calm = await endsWithin(graceMs, drain());
      if (!calm) void server.stop();
      const committed = await endsWithin(COMMIT_GRACE_MS, commit());
      backends.release();
      return calm && committed;
    },
  };
}

// Anybody may read this: the reason, with its addresses, is in the log.
function unavailableOf({ servers }: Backends): string | null {
  const server = servers.find(({ unavailable }) => unavailable() !== null);
  return server ? `${server.name} is unavailable.` : null;
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
