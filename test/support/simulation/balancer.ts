import type { Machine } from './machine.ts';
import type { SimulatedNode } from './node.ts';

/** A request that a node handles. */
export interface Exchange {
  /** Called when the node's process ended: its connections are closed. */
  readonly onReset: () => void;
}

/** A place of the service that a node fills; after a restart another one does. */
export interface Slot {
  readonly number: number;
  machine: Machine;
  node: SimulatedNode;
  /** Whether the node's port is open. */
  accepts: boolean;
  readonly exchanges: Set<Exchange>;
}

/** A load balancer in front of the nodes. It needs no stickiness; clients keep their connections. */
export class Balancer {
  constructor(
    readonly slots: readonly Slot[],
    private readonly random: () => number,
  ) {}

  /** @param preferred the slot of the client's connection. @returns null when no node accepts */
  choose(preferred: number | null): Slot | null {
    const kept = preferred === null ? undefined : this.slots[preferred];
    if (kept?.accepts) return kept;
    const accepting = this.slots.filter(({ accepts }) => accepts);
    return accepting[Math.floor(this.random() * accepting.length)] ?? null;
  }
}
