import calculateSlot from 'cluster-key-slot';
import type { RedisOptions } from 'ioredis';
import { Unavailable } from '../../platform/errors.ts';
import type { HostPort } from '../../platform/redis-url.ts';
import { Connection, type ReplyError } from './connection.ts';
import { WrongRedis, wrongOf } from './link.ts';
import type { ServerLinks } from './server-links.ts';
import { type ClusterView, clusterView, nameOf, newestView, parseRedirection } from './slots.ts';
import type { Redirection, Topology } from './topology.ts';

export interface ClusterOptions {
  /** Some servers of the cluster; it names the others. */
  readonly seeds: readonly HostPort[];
  readonly connectTo: (address: HostPort) => RedisOptions;
  readonly greet: (connection: Connection) => Promise<void>;
  /** @param takesOver whether another server had its keys until now */
  readonly linksTo: (address: HostPort, takesOver: boolean) => ServerLinks;
}

const LOOK_MS = 200;
const ASKED_AT_ONCE = 5;

/**
 * The servers of a cluster and their slots. A call that was answered with MOVED tells of a slot that
 * moved; while a primary is unavailable, others are asked every 200 ms who has its slots now.
 */
export class ClusterTopology implements Topology {
  private readonly servers = new Map<string, { address: HostPort; links: ServerLinks }>();
  private readonly owners: (ServerLinks | undefined)[] = [];
  private trouble: string | null = 'not connected yet';
  private isStale = true;
  private looking: Promise<void> | null = null;
  private readonly timer: Timer;
  private isOpen = false;
  private closed = false;

  constructor(private readonly options: ClusterOptions) {
    this.timer = setInterval(() => {
      if (this.isStale || this.unavailable() !== null) void this.look().catch(() => {});
    }, LOOK_MS);
  }

  async opened(): Promise<void> {
    await this.look();
    this.isOpen = true;
    await Promise.all([...this.servers.values()].map(({ links }) => links.opened()));
    if (this.trouble !== null) throw new Unavailable(`Redis: ${this.trouble}`);
  }

  holderOf(key: string): ServerLinks {
    const links = this.owners[calculateSlot(key)];
    if (links) return links;
    throw new Unavailable(`Redis: ${this.trouble ?? 'no server of the cluster has this key'}`);
  }

  redirected(error: ReplyError, by: ServerLinks): Redirection | null {
    if (error.code === 'CLUSTERDOWN') this.trouble = error.message;
    if (error.code === 'CLUSTERDOWN' || error.code === 'MOVED') this.isStale = true;
    const asked = [...this.servers.values()].find(({ links }) => links === by)?.address;
    const found = asked ? parseRedirection(error.message, asked) : null;
    if (!found) return null;
    const to = this.linksTo(found.to);
    if (!found.isAsking) this.owners[found.slot] = to;
    return { to, isAsking: found.isAsking };
  }

  unavailable(): string | null {
    if (this.trouble !== null) return this.trouble;
    for (const { links } of this.servers.values()) {
      const reason = links.unavailable();
      if (reason !== null) return reason;
    }
    return null;
  }

  close(): void {
    this.closed = true;
    clearInterval(this.timer);
    for (const { links } of this.servers.values()) links.close();
  }

  /** Asks who has which slots, once at a time. @throws what the servers answered, when none knows */
  private look(): Promise<void> {
    this.looking ??= this.lookNow().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  private async lookNow(): Promise<void> {
    const known = [...this.servers.values()].map(({ address }) => address);
    const all = new Map([...known, ...this.options.seeds].map((one) => [nameOf(one), one]));
    const asked = shuffled([...all.values()]).slice(0, ASKED_AT_ONCE);
    const answers = await Promise.allSettled(asked.map((address) => this.viewOf(address)));
    const views = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const newest = newestView(views);
    if (newest) {
      this.take(newest);
      return;
    }
    const reasons = answers.map((one) => (one as PromiseRejectedResult).reason as Error);
    this.trouble = reasons[0]?.message ?? 'no server of the cluster answers';
    throw wrongAmong(reasons) ?? new Unavailable(`Redis is unavailable: ${this.trouble}`);
  }

  private async viewOf(address: HostPort): Promise<ClusterView> {
    const connection = new Connection(this.options.connectTo(address), () => {});
    try {
      await connection.open();
      await this.options.greet(connection);
      const slots = await connection.send(['CLUSTER', 'SLOTS']);
      const info = await connection.send(['CLUSTER', 'INFO']);
      return clusterView(slots, info, address);
    } finally {
      connection.close('asked');
    }
  }

  private take({ ranges, trouble }: ClusterView): void {
    if (this.closed) return;
    this.isStale = false;
    this.trouble = trouble;
    this.owners.length = 0;
    const kept = new Set<string>();
    for (const { from, to, owner } of ranges) {
      const links = this.linksTo(owner);
      kept.add(nameOf(owner));
      for (let slot = from; slot <= to; slot += 1) this.owners[slot] = links;
    }
    for (const [name, { links }] of this.servers) {
      if (kept.has(name)) continue;
      this.servers.delete(name);
      links.retire();
    }
  }

  private linksTo(address: HostPort): ServerLinks {
    const name = nameOf(address);
    const found = this.servers.get(name);
    if (found) return found.links;
    const links = this.options.linksTo(address, this.isOpen);
    this.servers.set(name, { address, links });
    return links;
  }
}

function wrongAmong(reasons: readonly Error[]): WrongRedis | null {
  if (reasons.some(({ message }) => message.includes('cluster support disabled'))) {
    return new WrongRedis('It is no cluster: the address begins with redis:// or rediss://');
  }
  return reasons.map(wrongOf).find((wrong) => wrong !== null) ?? null;
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}
