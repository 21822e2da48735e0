import { randomUUID } from 'node:crypto';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { SharedPresenceRegistry } from '../../../server/realtime/presence/presence-registry.ts';
import { createRedisPresence } from '../../../server/realtime/presence/presence-registry-redis.ts';
import type { Redis } from '../../../server/storage/redis/redis.ts';
import { asFromAnotherThread } from './register-from-thread.ts';

const START = intervalAt(1_700_000_000_000);

/** Nodes on one Redis, for tests: their clock is set, and they hand in when they are told to. */
export class PresenceNodes {
  readonly tallies: readonly SharedPresenceRegistry[];
  readonly serviceId = randomUUID();
  readonly streamId = randomUUID();
  nowMs = intervalStartMs(START);
  /** The newest interval that all nodes have handed in. */
  sealedTo = START - 1;
  /** How far the clock of each node is behind, in ms; 0 when it is not said. */
  readonly behindMs: number[] = [];

  constructor(redis: Redis, count: number) {
    const watermark = () => this.sealedTo;
    this.tallies = Array.from({ length: count }, (_, node) => {
      const clock = { nowMs: () => this.nowMsOf(node) };
      const presence = createRedisPresence({ redis, clock, serviceId: this.serviceId, watermark });
      // Whichever thread its viewers talk to, a node counts the same.
      return node === 1 ? asFromAnotherThread(presence, clock) : presence;
    });
  }

  get interval(): number {
    return intervalAt(this.nowMs);
  }

  node(at: number): SharedPresenceRegistry {
    return this.tallies[at] as SharedPresenceRegistry;
  }

  register(node: number, ...seats: number[]): void {
    for (const seat of seats) this.node(node).register(this.streamId, seat);
  }

  count(node: number): Promise<number> {
    return this.node(node).count(this.streamId);
  }

  /** The interval ends, and nobody has handed it in yet. */
  end(): void {
    this.nowMs = intervalStartMs(this.interval + 1);
  }

  /** Nodes hand in what has ended; then it is sealed. */
  async merge(nodes: Iterable<number> = this.tallies.keys()): Promise<void> {
    for (const node of nodes) await this.node(node).replicate(intervalAt(this.nowMsOf(node)) - 1);
    this.sealedTo = this.interval - 1;
  }

  /** Intervals end and are handed in, one after the other. */
  async pass(intervals: number): Promise<void> {
    for (let passed = 0; passed < intervals; passed += 1) {
      this.end();
      await this.merge();
    }
  }

  /** The published count of an interval, as a node finds it. */
  async countAtEndOf(interval: number, node = 0): Promise<number> {
    const counts = new Map(await this.node(node).countsAtEndOf(interval));
    return counts.get(this.streamId) ?? 0;
  }

  private nowMsOf(node: number): number {
    return this.nowMs - (this.behindMs[node] ?? 0);
  }
}
