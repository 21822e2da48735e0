import calculateSlot from 'cluster-key-slot';
import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { runtime } from '../../platform/runtime.ts';
import { queryServer, type ReplyError, type ServerAccess } from './connection.ts';
import { configurationErrorOf, RedisConfigurationError } from './reconnecting-connection.ts';
import type { ServerConnections } from './server-connections.ts';
import {
  type ClusterView,
  newestView,
  parseClusterView,
  parseRedirection,
  serverName,
} from './slots.ts';
import type { Redirection, Topology } from './topology.ts';

export interface ClusterOptions extends ServerAccess {
  /** Some servers of the cluster; they report the others. */
  readonly seeds: readonly HostPort[];
  /** Opens the connections to a server. @param takesOver whether another server had its keys until now */
  readonly connectionsTo: (address: HostPort, takesOver: boolean) => ServerConnections;
}

const REFRESH_MS = 200;
const QUERIED_SERVERS_MAX = 5;

/**
 * The servers of a cluster and their slots. The slots are read again after a MOVED error, and every
 * 200 ms while a primary is unavailable.
 */
export class ClusterTopology implements Topology {
  private readonly servers = new Map<string, { address: HostPort; server: ServerConnections }>();
  private readonly owners: (ServerConnections | undefined)[] = [];
  private error: string | null = 'not connected yet';
  private isStale = true;
  private refreshing: Promise<void> | null = null;
  private readonly timer: Timer;
  private isOpen = false;
  private closed = false;

  constructor(private readonly options: ClusterOptions) {
    this.timer = runtime.setInterval(() => {
      if (this.isStale || this.unavailableReason() !== null) void this.refresh().catch(() => {});
    }, REFRESH_MS);
  }

  async ready(): Promise<void> {
    await this.refresh();
    this.isOpen = true;
    await Promise.all([...this.servers.values()].map(({ server }) => server.ready()));
    if (this.error !== null) throw new Unavailable(`Redis: ${this.error}`);
  }

  serverFor(key: string): ServerConnections {
    const server = this.owners[calculateSlot(key)];
    if (server) return server;
    // With `cluster-require-full-coverage no` the cluster is well while it lacks slots.
    this.isStale = true;
    throw new Unavailable(`Redis: ${this.error ?? 'no server of the cluster has this key'}`);
  }

  handleRedirection(error: ReplyError, by: ServerConnections): Redirection | null {
    if (error.code === 'CLUSTERDOWN') this.error = error.message;
    if (error.code === 'CLUSTERDOWN' || error.code === 'MOVED') this.isStale = true;
    const responder = [...this.servers.values()].find(({ server }) => server === by)?.address;
    const redirection = responder ? parseRedirection(error.message, responder) : null;
    if (!redirection) return null;
    const to = this.connectionsTo(redirection.to);
    if (!redirection.isAsking) this.owners[redirection.slot] = to;
    return { to, isAsking: redirection.isAsking };
  }

  unavailableReason(): string | null {
    if (this.error !== null) return this.error;
    for (const { server } of this.servers.values()) {
      const reason = server.unavailableReason();
      if (reason !== null) return reason;
    }
    return null;
  }

  close(): void {
    this.closed = true;
    runtime.clearTimer(this.timer);
    for (const { server } of this.servers.values()) server.close();
  }

  /** Reads the slots from the servers, one refresh at a time. @throws when no server reports them */
  private refresh(): Promise<void> {
    this.refreshing ??= this.refreshNow().finally(() => {
      this.refreshing = null;
    });
    return this.refreshing;
  }

  private async refreshNow(): Promise<void> {
    const addresses = [...this.servers.values()].map(({ address }) => address);
    const candidates = new Map(
      [...addresses, ...this.options.seeds].map((address) => [serverName(address), address]),
    );
    const queried = shuffled([...candidates.values()]).slice(0, QUERIED_SERVERS_MAX);
    const results = await Promise.allSettled(queried.map((address) => this.queryView(address)));
    const views = results.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    const newest = newestView(views);
    if (newest) {
      this.apply(newest);
      return;
    }
    const reasons = results.map((result) => (result as PromiseRejectedResult).reason as Error);
    this.error = reasons[0]?.message ?? 'no server of the cluster responds';
    throw findConfigurationError(reasons) ?? new Unavailable(`Redis is unavailable: ${this.error}`);
  }

  private queryView(address: HostPort): Promise<ClusterView> {
    return queryServer(this.options, address, async (connection) => {
      const slots = await connection.send(['CLUSTER', 'SLOTS']);
      const info = await connection.send(['CLUSTER', 'INFO']);
      return parseClusterView(slots, info, address);
    });
  }

  private apply({ ranges, error }: ClusterView): void {
    if (this.closed) return;
    this.isStale = false;
    this.error = error;
    this.owners.length = 0;
    const current = new Set<string>();
    for (const { from, to, owner } of ranges) {
      const server = this.connectionsTo(owner);
      current.add(serverName(owner));
      for (let slot = from; slot <= to; slot += 1) this.owners[slot] = server;
    }
    for (const [name, { server }] of this.servers) {
      if (current.has(name)) continue;
      this.servers.delete(name);
      server.retire();
    }
  }

  private connectionsTo(address: HostPort): ServerConnections {
    const name = serverName(address);
    const existing = this.servers.get(name);
    if (existing) return existing.server;
    const server = this.options.connectionsTo(address, this.isOpen);
    this.servers.set(name, { address, server });
    return server;
  }
}

function findConfigurationError(reasons: readonly Error[]): RedisConfigurationError | null {
  if (reasons.some(({ message }) => message.includes('cluster support disabled'))) {
    return new RedisConfigurationError(
      'The server is not part of a cluster: start the address with redis:// or rediss://',
    );
  }
  return reasons.map(configurationErrorOf).find((error) => error !== null) ?? null;
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: runtime.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}
