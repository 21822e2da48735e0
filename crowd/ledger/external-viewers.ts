import type { ViewerClaims } from '../../protocol/tokens.ts';

// Probes also keep the service's seat lease, which ends after 10 minutes without a new viewer (N-16).
const PROBE_INTERVAL_MS = 240_000;

/** A check that may depend on viewers from outside of the crowd. */
export interface ExternalViewerCheck {
  /** The mismatch with at most `others` external viewers, or null. A larger number never adds one. */
  mismatchWith(others: number): string | null;
  /** Called once with the mismatch, or null. */
  record(mismatch: string | null): void;
}

/** The claims of a viewer token that identify its viewer. */
export type TokenIdentity = Pick<ViewerClaims, 'seat' | 'sub'>;

/**
 * An upper bound of the viewers from outside of the crowd, such as people who opened the watch page.
 * The service assigns seats from 0 without gaps (T-8), and the crowd knows the seats of its viewers. A
 * probe requests the seat of a new identifier; the number of this seat reveals how many external
 * viewers joined before. A check that would pass with more external viewers waits for the next probe.
 */
export class ExternalViewers {
  private readonly crowdSeats = new Set<number>();
  private readonly crowdViewers = new Set<string>();
  private readonly externalAuthors = new Set<string>();
  /** Checks that wait for the next probe to be sent. */
  private readonly waiting: ExternalViewerCheck[] = [];
  /** Checks that wait for the current probe. */
  private readonly inProbe: ExternalViewerCheck[] = [];
  private probedMs = 0;
  private isProbing = false;
  private highestProbedSeat = 0;
  private countedBelowSeat = 0;

  /** Takes the token of a viewer of the crowd or of a probe. */
  addCrowdToken({ seat, sub }: TokenIdentity): void {
    this.crowdSeats.add(seat);
    this.crowdViewers.add(sub);
  }

  /** Number of external viewers up to the last probe. */
  count(): number {
    let crowdCount = 0;
    for (const seat of this.crowdSeats) if (seat < this.countedBelowSeat) crowdCount++;
    return this.countedBelowSeat - crowdCount;
  }

  /** Takes the author of a message. @returns whether it is an external viewer's first message */
  addAuthor(viewer: string): boolean {
    if (this.crowdViewers.has(viewer) || this.externalAuthors.has(viewer)) return false;
    this.externalAuthors.add(viewer);
    return true;
  }

  /** Number of external viewers who have written a message. */
  authorCount(): number {
    return this.externalAuthors.size;
  }

  /** Runs a check now, or after the next probe if more external viewers would explain its mismatch. */
  check(check: ExternalViewerCheck): void {
    const mismatch = check.mismatchWith(this.count());
    const isUnexplained = check.mismatchWith(Number.POSITIVE_INFINITY) !== null;
    if (mismatch === null || isUnexplained) check.record(mismatch);
    else this.waiting.push(check);
  }

  hasPendingChecks(): boolean {
    return this.waiting.length + this.inProbe.length > 0;
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
    this.inProbe.push(...this.waiting.splice(0));
  }

  probeReturned(tokens: readonly TokenIdentity[]): void {
    for (const token of tokens) this.addCrowdToken(token);
    this.highestProbedSeat = Math.max(this.highestProbedSeat, ...tokens.map(({ seat }) => seat));
  }

  /** Records that the probe failed: the checks that wait for it also wait for the next probe. */
  probeFailed(): void {
    this.isProbing = false;
  }

  /** Runs the waiting checks. Call it when tokens that were pending during the probe have arrived. */
  settle(): void {
    this.isProbing = false;
    this.countedBelowSeat = this.highestProbedSeat;
    const others = this.count();
    for (const check of this.inProbe.splice(0)) check.record(check.mismatchWith(others));
    for (const check of this.waiting.splice(0)) this.check(check);
  }
}

/** End of the text of a mismatch: how many external viewers were taken into account. */
export function externalViewersSuffix(others: number): string {
  return others === 0 ? '' : `, with at most ${others} from outside`;
}
