import { randomUUID } from 'node:crypto';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { SharedPresenceRegistry } from '../../../server/realtime/presence/presence-registry.ts';
import { createRedisPresence } from '../../../server/realtime/presence/presence-registry-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import { withThreadRegistration } from './presence-registry-contract.ts';

const START = intervalAt(1_700_000_000_000);

/** Nodes on one Redis with a manual clock, which replicate on request. */
export class PresenceNodes {
  readonly registries: readonly SharedPresenceRegistry[];
  readonly serviceId = randomUUID();
  readonly streamId = randomUUID();
  nowMs = intervalStartMs(START);
  /** The newest interval that all nodes have replicated. */
  watermark = START - 1;
  /** How far the clock of each node lags, in ms; 0 by default. */
  readonly lagMs: number[] = [];

  constructor(redis: Redis, count: number) {
    const watermark = () => this.watermark;
    this.registries = Array.from({ length: count }, (_, node) => {
      const clock = { nowMs: () => this.nowMsOf(node) };
      const presence = createRedisPresence({ redis, clock, serviceId: this.serviceId, watermark });
      // One node registers from another thread: it must count the same.
      return node === 1 ? withThreadRegistration(presence, clock) : presence;
    });
  }

  get interval(): number {
    return intervalAt(this.nowMs);
  }

  node(index: number): SharedPresenceRegistry {
    return this.registries[index] as SharedPresenceRegistry;
  }

  register(node: number, ...seats: number[]): void {
    for (const seat of seats) this.node(node).register(this.streamId, seat);
  }

  count(node: number): Promise<number> {
    return this.node(node).count(this.streamId);
  }

  /** Ends the interval, before any node replicates it. */
  end(): void {
    this.nowMs = intervalStartMs(this.interval + 1);
  }

  /** Nodes replicate the ended interval; then `watermark` includes it, as after sealing. */
  async replicate(nodes: Iterable<number> = this.registries.keys()): Promise<void> {
    for (const node of nodes) await this.node(node).replicate(intervalAt(this.nowMsOf(node)) - 1);
    this.watermark = this.interval - 1;
  }

  /** Ends and replicates intervals, one after the other. */
  async pass(intervals: number): Promise<void> {
    for (let passed = 0; passed < intervals; passed += 1) {
      this.end();
      await this.replicate();
    }
  }

  /** The published count of an interval, as computed on a node. */
  async countAtEndOf(interval: number, node = 0): Promise<number> {
    const counts = new Map(await this.node(node).countsAtEndOf(interval));
    return counts.get(this.streamId) ?? 0;
  }

  private nowMsOf(node: number): number {
    return this.nowMs - (this.lagMs[node] ?? 0);
  }
}
