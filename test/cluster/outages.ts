/**
 * What is broken: a backend for all nodes; or one node, which was killed, told to stop, cut from
 * Redis, or does not run for a while.
 */
export type Fault = 'redis' | 'postgres' | 'killed' | 'stopped' | 'cut' | 'stalled';

/** A time in which something is broken, in Unix ms; `toMs` is Infinity while it lasts. */
export interface Outage {
  readonly what: Fault;
  /** Which node; null: a backend, for all of them. */
  readonly node: number | null;
  readonly fromMs: number;
  toMs: number;
}

/** N-11: within this time after a repair everything is right again. */
export const RIGHT_AGAIN_MS = 2_000;

/** What the tests broke and when; the oracle judges by it what a client may be told. */
export class Outages {
  private readonly all: Outage[] = [];

  /** Something is broken from now on, until `over`. */
  begin(what: Fault, node: number | null = null): Outage {
    const outage: Outage = { what, node, fromMs: Date.now(), toMs: Number.POSITIVE_INFINITY };
    this.all.push(outage);
    return outage;
  }

  over(outage: Outage): void {
    outage.toMs = Date.now();
  }

  /** Outages that lasted, or were being recovered from, at some moment of this time. */
  during(fromMs: number, toMs: number, recoveryMs = RIGHT_AGAIN_MS): Outage[] {
    return this.all.filter((outage) => outage.fromMs <= toMs && outage.toMs + recoveryMs >= fromMs);
  }

  /** What was broken around this time, for people; times are from its beginning. */
  around(fromMs: number, toMs: number): string {
    const broken = this.during(fromMs, toMs).map(({ what, node, fromMs: from, toMs: to }) => {
      const name = node === null ? what : `node ${node} ${what}`;
      return `${name} from ${from - fromMs} to ${to - fromMs} ms`;
    });
    return `(${broken.join(', ') || 'nothing broken'})`;
  }
}
