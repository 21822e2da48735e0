/**
 * What is broken: a backend, for all nodes; or one node, which was killed, stopped with SIGTERM, cut
 * off from Redis, or suspended for a while.
 */
export type OutageKind = 'redis' | 'postgres' | 'killed' | 'stopped' | 'cut' | 'stalled';

/** A period in which something is broken, in Unix ms. */
export interface Outage {
  readonly kind: OutageKind;
  /** The affected node; null for a backend, which affects all nodes. */
  readonly node: number | null;
  readonly fromMs: number;
  /** Infinity until the repair. */
  repairedMs: number;
  /** When every node worked again after the repair; Infinity until then. */
  recoveredMs: number;
}

/** N-11: the nodes recover within this time after a repair. */
export const RECOVERY_LIMIT_MS = 2_000;

/** The outages that a fault run caused. The checks depend on them: they allow a 503 during one. */
export class Outages {
  private readonly outages: Outage[] = [];

  /** Records an outage that begins now. */
  begin(kind: OutageKind, node: number | null = null): Outage {
    const never = Number.POSITIVE_INFINITY;
    const fromMs = Date.now();
    const outage: Outage = { kind, node, fromMs, repairedMs: never, recoveredMs: never };
    this.outages.push(outage);
    return outage;
  }

  markRepaired(outage: Outage): void {
    outage.repairedMs = Date.now();
  }

  markRecovered(outage: Outage): void {
    outage.recoveredMs = Date.now();
  }

  /**
   * Outages that overlap a period. An outage lasts until its recovery, even a late one (whose
   * lateness the scenario reports), and at least `RECOVERY_LIMIT_MS` after its repair.
   */
  during(fromMs: number, toMs: number): Outage[] {
    return this.outages.filter((outage) => {
      const recoveredMs = Math.max(outage.recoveredMs, outage.repairedMs + RECOVERY_LIMIT_MS);
      return outage.fromMs <= toMs && recoveredMs >= fromMs;
    });
  }

  /** Outages that were not yet repaired at this moment. */
  at(atMs: number): Outage[] {
    return this.outages.filter(({ fromMs, repairedMs }) => fromMs <= atMs && repairedMs >= atMs);
  }

  /** The outages of a period as text for a violation; times are relative to its start. */
  describe(fromMs: number, toMs: number): string {
    const outages = this.during(fromMs, toMs).map((outage) => {
      const name = outage.node === null ? outage.kind : `node ${outage.node} ${outage.kind}`;
      return `${name} from ${outage.fromMs - fromMs} to ${outage.repairedMs - fromMs} ms`;
    });
    return `(${outages.join(', ') || 'no outage'})`;
  }
}
