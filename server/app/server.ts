import type { Logger } from 'pino';
import { listen } from '../gateway/listen.ts';
import { listenWithWorkers } from '../gateway/workers/listen-with-workers.ts';
import { WorkerPool } from '../gateway/workers/worker-pool.ts';
import type { Listener } from '../http/address.ts';
import { type OperatorOptions, operatorRoutes } from '../http/operator-routes.ts';
import { createMetrics, createSealLatencyHistogram } from '../platform/metrics.ts';
import { createOpenFiles, type OpenFiles } from '../platform/open-files.ts';
import { runtime } from '../platform/runtime.ts';
import { displayRoutes } from '../web/display-page.ts';
import { documentRoutes } from '../web/docs.ts';
import { startPageRoutes } from '../web/start-page.ts';
import { studioPageRoutes } from '../web/studio-page.ts';
import { typefaceRoutes } from '../web/typeface.ts';
import { watchRoutes } from '../web/watch-page.ts';
import type { Backends, BackendsOptions, OpenBackends } from './backends.ts';
import { createService, type Service } from './service.ts';

export interface ServerOptions extends BackendsOptions {
  readonly version: string;
  readonly openBackends: OpenBackends;
}

export interface RunningServer {
  /** URL at which a browser on this machine reaches the server. */
  readonly url: string;
  readonly port: number;
  /** Location of the database, for display. */
  readonly location: string;
  /**
   * A new link that creates the first account and its owner; null when a member exists or the
   * role `studio` is off.
   */
  newSetupLink(): Promise<string | null>;
  /**
   * Drains (O-11): answers long polls, ends event streams, closes the port, commits and seals what
   * was accepted, and releases the data directory. Cuts responses that take longer than `graceMs`.
   * @returns whether all of it finished in time; clients that do not read their responses do not count
   */
  stop(graceMs: number): Promise<boolean>;
}

// Sealing the last interval takes up to 250 ms, and a failing database is retried for 1 s. The rest
// covers a slow disk.
const COMMIT_GRACE_MS = 2_000;

/** How often refused connections are logged. */
const REFUSALS_LOG_MS = 10_000;

/**
 * Opens the backends, composes the service and listens. Resolves when the server is ready.
 * @throws Error with a message for the operator: why a backend failed, or that the port is in use
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const backends = await options.openBackends(options);
  try {
    return await startOn(options, backends);
  } catch (error) {
    await backends.close();
    backends.release();
    throw error;
  }
}

async function startOn(options: ServerOptions, backends: Backends): Promise<RunningServer> {
  const { config, logger } = options;
  const { database, clock, watermark, createRealtime } = backends;
  const sealLatency = createSealLatencyHistogram();
  const listener: Listener = { server: null };
  const service = await backends.retryUntilAvailable(() =>
    createService(
      {
        ...{ config, clock, logger, createRealtime, watermark, listener },
        store: database.store,
        random: runtime.random,
      },
      (latencyMs) => sealLatency.add(latencyMs / 1000),
    ),
  );
  const openFiles = createOpenFiles();
  const metrics = createMetrics({
    ...service.stats,
    version: options.version,
    sealLatency,
    requests: () => service.stats.requests.counters,
    answersByDecision: () => Object.entries(service.stats.answers),
    backends: backends.servers,
    databasePendingCalls: () => database.pending(),
    clockOffsetMs: () => clock.offsetMs(),
    refusedConnections: () => openFiles.refused(),
    openFiles: () => openFiles.open(),
  });
  const { host, port, corsOrigin, edgeCache } = config;
  const { fetch, sockets, gatewayBackend, stats } = service;
  const target = {
    ...{ host, port, corsOrigin, edgeCache, listener, fetch, sockets },
    routes: routesOf(options, backends, service, {
      metrics,
      metricsAccess: { listener, trustProxy: config.trustProxy, token: config.metricsToken },
    }),
    log: stats.requests,
  };
  const workers = workersOf(options, service, openFiles);
  const server = workers
    ? await listenWithWorkers(workers, target)
    : listen({ ...target, openFiles, backend: gatewayBackend });
  const watch = watchRefusals(openFiles, logger);
  // Not awaited: finding ffmpeg and opening the ports for video takes a moment.
  void service.start();
  await service.seal();

  const drain = async () => {
    await Promise.all([service.drain(), workers?.drain()]);
    await server.drain();
  };
  const commit = async () => {
    await service.stop();
    await backends.close();
  };
  const { url } = server;
  return {
    location: backends.location,
    url,
    port: server.port,
    newSetupLink: async () =>
      config.roles.has('studio') ? service.newSetupLink(config.publicUrl ?? url) : null,
    async stop(graceMs) {
      runtime.clearTimer(watch);
      const isDrained = await finishesWithin(graceMs, drain());
      if (!isDrained) void server.stop();
      const isCommitted = await finishesWithin(COMMIT_GRACE_MS, commit());
      backends.release();
      return isDrained && isCommitted;
    },
  };
}

function routesOf(
  { config, version }: ServerOptions,
  backends: Backends,
  service: Service,
  operator: Pick<OperatorOptions, 'metrics' | 'metricsAccess'>,
) {
  const common = { corsOrigin: config.corsOrigin, log: service.stats.requests };
  const hasStudio = config.roles.has('studio');
  return {
    ...service.routes,
    ...startPageRoutes({ version, hasStudio, ...service.startPage, ...common }),
    ...typefaceRoutes(common),
    ...documentRoutes({ version, ...common }),
    ...watchRoutes({ ...common, ...service.watchPage }),
    ...(hasStudio && { ...studioPageRoutes(common), ...displayRoutes(common) }),
    ...operatorRoutes({
      unreadyReason: () => service.unreadyReason() ?? unavailableServer(backends),
      ...operator,
      ...common,
    }),
  };
}

/** The worker threads of `--workers`; null when the main thread serves everything. */
function workersOf(
  { config, logger, onFailed }: ServerOptions,
  service: Service,
  openFiles: OpenFiles,
) {
  if (config.workers === 1) return null;
  return new WorkerPool({
    ...service.workerServices,
    backend: service.gatewayBackend,
    count: config.workers,
    openFiles,
    onDefect: (reason) => logger.error({ reason }, 'a failure in a worker thread'),
    onFailed,
  });
}

/** Logs that connections are refused, once in ten seconds. */
function watchRefusals(openFiles: OpenFiles, logger: Logger): Timer {
  let logged = 0;
  return runtime
    .setInterval(() => {
      const refused = openFiles.refused() - logged;
      if (refused === 0) return;
      logged += refused;
      logger.error(
        { refused, openFiles: openFiles.open() },
        'connections are refused: raise the limit of open files (LimitNOFILE of systemd, `ulimit -n`)',
      );
    }, REFUSALS_LOG_MS)
    .unref();
}

/** Why the service is not ready, without addresses: the response is public. The log has the reason. */
function unavailableServer({ servers }: Backends): string | null {
  const server = servers.find(({ unavailableReason }) => unavailableReason() !== null);
  return server ? `${server.name} is unavailable.` : null;
}

/** Whether `work` finishes in time. A timeout does not cancel it. */
async function finishesWithin(timeoutMs: number, work: Promise<void>): Promise<boolean> {
  let timer: Timer | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = runtime.setTimeout(() => resolve(false), timeoutMs);
  });
  const done = work.then(() => true);
  return Promise.race([done, timeout]).finally(() => runtime.clearTimer(timer));
}
