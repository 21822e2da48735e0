import type { BunRequest } from 'bun';
import pino from 'pino';
import type { CreateRealtime } from '../../../server/app/backends.ts';
import { createEmbeddedRealtime } from '../../../server/app/backends-embedded.ts';
import { createSharedRealtime } from '../../../server/app/backends-shared.ts';
import { procedures, type Store } from '../../../server/app/procedures.ts';
import { createService, type Service } from '../../../server/app/service.ts';
import type { PathHandler } from '../../../server/http/router.ts';
import type { ServiceClock } from '../../../server/platform/clock.ts';
import { type Config, createConfig } from '../../../server/platform/config.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { retryUntilAvailable } from '../../../server/platform/retry-until-available.ts';
import { createServiceClock } from '../../../server/realtime/coordination/service-clock.ts';
import { openSharedClock } from '../../../server/realtime/coordination/shared-clock.ts';
import { openRedis } from '../../../server/storage/redis/open-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import {
  databaseOn,
  type PostgresDatabase,
} from '../../../server/storage/sql/database-postgres.ts';
import { PostgresPool } from '../../../server/storage/sql/postgres-pool.ts';
import type { Coverage } from './coverage.ts';
import { SimulatedGateway } from './gateway.ts';
import type { Link } from './link.ts';
import type { Machine } from './machine.ts';
import type { PostgresModel } from './postgres/server.ts';
import { openSimulatedSession, type SimulatedSession } from './postgres/session.ts';
import type { ModelEnvironment } from './redis/model-environment.ts';

export interface NodeOptions {
  readonly machine: Machine;
  readonly postgres: PostgresModel;
  readonly coverage: Coverage;
  readonly postgresLink: Link;
  /** The environment of the connections to Redis. */
  readonly connectRedis: () => ModelEnvironment;
  /** The database of a single process; null for a node of several. */
  readonly embedded: (() => Store) | null;
  /** Receives defects that the service logged. */
  readonly onDefect: (message: string) => void;
}

const CONNECTIONS = 4;
const ROUTE_PARAMETER = /^:(\w+)$/;

/** The configuration of every node: everything but video, and no limit by address. */
const CONFIG: Config = createConfig({
  roles: new Set(['api', 'auth', 'view-counts', 'polls', 'events', 'studio']),
  publicUrl: 'https://live.example',
  port: 4250,
});

interface RoutePattern {
  readonly segments: readonly RouteSegment[];
  readonly handler: PathHandler;
}

/** A segment that a path must have, or the name of the parameter in its place. */
interface RouteSegment {
  readonly text: string;
  readonly parameter: string | undefined;
}

interface OpenBackends {
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly watermark: number;
  readonly createRealtime: CreateRealtime;
}

/** A node of the real service, without sockets: requests arrive at its gateway, and parsed at its origin server. */
export class SimulatedNode {
  private patterns: RoutePattern[] = [];
  private service: Service | null = null;
  private gateway: SimulatedGateway | null = null;
  private clock: ServiceClock | null = null;
  private database: PostgresDatabase<typeof procedures> | null = null;
  private readonly sessions: SimulatedSession[] = [];
  private redisEnvironment: ModelEnvironment | null = null;
  private redis: Redis | null = null;
  private closeClock = () => {};

  constructor(private readonly options: NodeOptions) {}

  /** Starts the service; resolves when it is ready for requests. */
  async start(): Promise<void> {
    const { machine, embedded } = this.options;
    const logger = this.createLogger();
    const { store, clock, watermark, createRealtime } = embedded
      ? await this.openEmbedded(embedded(), logger)
      : await this.openShared(logger);
    this.clock = clock;
    this.service = await createService(
      {
        ...{ config: CONFIG, store, clock, logger, createRealtime, watermark },
        listener: { server: null },
        random: machine.runtime.random,
      },
      () => {},
    );
    this.patterns = Object.entries(this.service.routes).map(([path, handler]) => ({
      segments: path.split('/').map(routeSegment),
      handler,
    }));
    this.gateway = new SimulatedGateway({
      backend: this.service.gatewayBackend,
      corsOrigin: CONFIG.corsOrigin,
      origin: (url, init) => this.handleAtOrigin(url, init),
      onDefect: this.options.onDefect,
    });
    void this.service.start();
    await this.service.seal();
  }

  private async openEmbedded(store: Store, logger: pino.Logger): Promise<OpenBackends> {
    const { systemMs, monotonicMs } = this.options.machine.runtime;
    const watermark = await store.readWatermark({});
    const clock = createServiceClock(systemMs, watermark, logger, { monotonicMs });
    return { store, clock, watermark, createRealtime: createEmbeddedRealtime };
  }

  /** As `server/app/backends-shared.ts` does, with the real clients on the models. */
  private async openShared(logger: pino.Logger): Promise<OpenBackends> {
    const { machine, connectRedis, coverage } = this.options;
    this.redisEnvironment = connectRedis();
    const environment = this.redisEnvironment;
    const opened = await retryUntilAvailable('Redis', logger, () =>
      openRedis({ url: 'redis://simulated', replicas: 0, logger, environment }),
    );
    this.redis = opened;
    const redis = coverage.observeRedis(opened);
    const nodeId = machine.runtime.newId();
    const store = coverage.observeStore(
      await retryUntilAvailable('PostgreSQL', logger, () => this.openPostgres(logger)),
    );
    const { clock, watermark, close } = await retryUntilAvailable('PostgreSQL', logger, () =>
      openSharedClock({ redis, store, nodeId, logger }),
    );
    this.closeClock = close;
    return { store, clock, watermark, createRealtime: createSharedRealtime(redis, nodeId) };
  }

  private async openPostgres(logger: pino.Logger): Promise<Store> {
    const { machine, postgres, postgresLink } = this.options;
    const pool = new PostgresPool('postgres://simulated', logger, CONNECTIONS, (options) => {
      const session = openSimulatedSession(postgres, postgresLink, machine, options);
      return session.then((opened) => {
        this.sessions.push(opened);
        return opened;
      });
    });
    await pool.open().catch((error: Error) => {
      throw new Unavailable(error.message);
    });
    this.database = databaseOn(pool, procedures);
    return this.database.store;
  }

  nowMs(): number {
    return this.clock?.nowMs() ?? Number.NaN;
  }

  watermark(): number {
    return this.service?.stats.watermark() ?? -1;
  }

  isReady(): boolean {
    return this.service !== null && this.service.unreadyReason() === null;
  }

  /** Handles a request on this node's machine. @throws Error when the connection is closed instead */
  handle(url: string, init: RequestInit): Promise<Response> {
    return (this.gateway as SimulatedGateway).fetch(url, init);
  }

  private async handleAtOrigin(url: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(url);
    const segments = pathname.split('/');
    const request = new Request(url, init) as BunRequest<string>;
    for (const pattern of this.patterns) {
      const params = matchSegments(pattern.segments, segments);
      if (!params) continue;
      Object.defineProperty(request, 'params', { value: params });
      return pattern.handler(request);
    }
    return (this.service as Service).fetch(request);
  }

  /** Drains and stops the service. @param closePort called when no more requests may come */
  async stop(closePort: () => void): Promise<void> {
    await this.service?.drain();
    closePort();
    await this.service?.stop();
    this.closeClock();
    await this.database?.close();
    await this.redis?.close();
  }

  /** The process ended: its system closes its connections to the backends. */
  closeConnections(): void {
    for (const session of this.sessions) session.abandon();
    this.redisEnvironment?.abandon();
  }

  private createLogger() {
    const { onDefect } = this.options;
    const write = (line: string) => {
      const { level, msg, err } = JSON.parse(line) as {
        level: number;
        msg?: string;
        err?: { stack?: string };
      };
      // Without an error it is an alarm for operators, such as that of a wrong clock.
      if (level >= 50 && err) onDefect(`${msg} ${err.stack}`);
    };
    return pino({ level: 'error' }, { write });
  }
}

function routeSegment(text: string): RouteSegment {
  return { text, parameter: ROUTE_PARAMETER.exec(text)?.[1] };
}

function matchSegments(
  pattern: readonly RouteSegment[],
  segments: readonly string[],
): Record<string, string> | null {
  if (pattern.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (let index = 0; index < segments.length; index++) {
    const { text, parameter } = pattern[index] as RouteSegment;
    const segment = segments[index] as string;
    if (parameter !== undefined) params[parameter] = segment;
    else if (text !== segment) return null;
  }
  return params;
}
