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
  /** When everything was seen to be right again; Infinity until then. */
  rightMs: number;
}

/** N-11: within this time after a repair everything is right again. */
export const RIGHT_AGAIN_MS = 2_000;

/** What the tests broke and when; the oracle judges by it what a client may be told. */
export class Outages {
  private readonly all: Outage[] = [];

  /** Something is broken from now on, until `over`. */
  begin(what: Fault, node: number | null = null): Outage {
    const never = Number.POSITIVE_INFINITY;
    const outage: Outage = { what, node, fromMs: Date.now(), toMs: never, rightMs: never };
    this.all.push(outage);
    return outage;
  }

  over(outage: Outage): void {
    outage.toMs = Date.now();
  }

  /** It is over, and everything is right again. */
  recovered(outage: Outage): void {
    outage.rightMs = Date.now();
  }

  /**
   * Outages that lasted, or were being recovered from, at some moment of this time. When that took
   * longer than it may, this is a violation by itself, and what follows from it is none.
   */
  during(fromMs: number, toMs: number): Outage[] {
    return this.all.filter((outage) => {
      const rightMs = Math.max(outage.rightMs, outage.toMs + RIGHT_AGAIN_MS);
      return outage.fromMs <= toMs && rightMs >= fromMs;
    });
  }

  /** Outages that lasted at this moment. */
  at(atMs: number): Outage[] {
    return this.all.filter(({ fromMs, toMs }) => fromMs <= atMs && toMs >= atMs);
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
