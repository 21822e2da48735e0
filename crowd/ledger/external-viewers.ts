import type { ViewerClaims } from '../../protocol/tokens.ts';

// Probes also keep the service's seat lease, which ends after 10 minutes without a new viewer (N-16).
const PROBE_INTERVAL_MS = 240_000;

/** A check that may depend on viewers from outside of the crowd. */
export interface ExternalViewerCheck {
  /** The mismatch with at most `others` external viewers, or null. More of them never add one. */
  mismatchWith(others: number): string | null;
  /** Called once with the mismatch, or null. */
  record(mismatch: string | null): void;
}

/** The claims of a viewer token that identify its viewer. */
export type TokenIdentity = Pick<ViewerClaims, 'seat' | 'sub'>;

/**
 * An upper bound of the viewers from outside of the crowd, such as people who opened the watch page.
 * It does not rely on any count: every viewer has a seat, seats are assigned from 0 without gaps (T-8),
 * and the crowd knows its own. The seat of a new identifier, a probe, therefore reveals how many
 * external viewers joined before it. A check that needs more of them waits for the next probe.
 */
export class ExternalViewers {
  private readonly seats = new Set<number>();
  private readonly viewers = new Set<string>();
  private readonly authors = new Set<string>();
  /** Checks that wait for the next probe to be sent. */
  private readonly waiting: ExternalViewerCheck[] = [];
  /** Checks that wait for the current probe. */
  private readonly probed: ExternalViewerCheck[] = [];
  private probedMs = 0;
  private isProbing = false;
  private highestProbedSeat = 0;
  private countedBelowSeat = 0;

  /** Takes the token of a viewer of the crowd or of a probe. */
  addCrowdToken({ seat, sub }: TokenIdentity): void {
    this.seats.add(seat);
    this.viewers.add(sub);
  }

  /** Number of external viewers up to the last probe. */
  count(): number {
    let crowdSeats = 0;
    for (const seat of this.seats) if (seat < this.countedBelowSeat) crowdSeats++;
    return this.countedBelowSeat - crowdSeats;
  }

  /** Takes the author of a message. @returns whether it is an external viewer's first message */
  addAuthor(viewer: string): boolean {
    if (this.viewers.has(viewer) || this.authors.has(viewer)) return false;
    this.authors.add(viewer);
    return true;
  }

  /** Number of external viewers who have written a message. */
  authorCount(): number {
    return this.authors.size;
  }

  /** Runs a check: at once, or after the next probe if more of them would explain its mismatch. */
  check(check: ExternalViewerCheck): void {
    const mismatch = check.mismatchWith(this.count());
    const isUnexplained = check.mismatchWith(Number.POSITIVE_INFINITY) !== null;
    if (mismatch === null || isUnexplained) check.record(mismatch);
    else this.waiting.push(check);
  }

  hasPendingChecks(): boolean {
    return this.waiting.length + this.probed.length > 0;
  }

  /** Whether a probe is due. @param nowMs local time */
  needsProbe(nowMs: number): boolean {
    return (
      !this.isProbing && (this.hasPendingChecks() || nowMs - this.probedMs >= PROBE_INTERVAL_MS)
    );
  }

  /** Records that a probe is about to be sent. @param nowMs local time */
  probeSent(nowMs: number): void {
    this.isProbing = true;
    this.probedMs = nowMs;
    this.probed.push(...this.waiting.splice(0));
  }

  probeReturned(tokens: readonly TokenIdentity[]): void {
    for (const token of tokens) this.addCrowdToken(token);
    this.highestProbedSeat = Math.max(this.highestProbedSeat, ...tokens.map(({ seat }) => seat));
  }

  /** The probe failed: checks that wait for it wait for the next one. */
  probeFailed(): void {
    this.isProbing = false;
  }

  /** Runs the waiting checks, once tokens that were on their way during the probe have arrived. */
  settle(): void {
    this.isProbing = false;
    this.countedBelowSeat = this.highestProbedSeat;
    const others = this.count();
    for (const check of this.probed.splice(0)) check.record(check.mismatchWith(others));
    for (const check of this.waiting.splice(0)) this.check(check);
  }
}

/** End of the text of a mismatch: how many external viewers were taken into account. */
export function externalViewersSuffix(others: number): string {
  return others === 0 ? '' : `, with at most ${others} from outside`;
}
