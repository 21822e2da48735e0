import type { ViewerClaims } from '../../protocol/tokens.ts';

// A service forgets the seats that it has at hand after 10 minutes without a new viewer (N-16).
const PROBE_INTERVAL_MS = 240_000;

/** A check that fails, if at all, for want of others. */
export interface OutsiderCheck {
  /** What is wrong when there are at most so many others, or null; more of them never make it worse. */
  mismatchWith(others: number): string | null;
  /** Told once what is wrong, or null. */
  record(mismatch: string | null): void;
}

/** The part of a viewer token that tells who has it. */
export type TokenIdentity = Pick<ViewerClaims, 'seat' | 'sub'>;

/**
 * How many viewers there are besides the crowd, at most: somebody may have opened the page of the
 * show. This does not come from any count. Whoever does anything has a seat; seats are given from 0
 * on without gaps (T-8), and our tokens tell which of them are ours. So the seat of a new identifier,
 * a probe, tells how many others came before it. One is asked for when a check needs others that are
 * not known yet, and then that check waits for it.
 */
export class Outsiders {
  private readonly seats = new Set<number>();
  private readonly viewers = new Set<string>();
  private readonly authors = new Set<string>();
  /** Asked since the last probe was sent. */
  private readonly waiting: OutsiderCheck[] = [];
  /** Asked before it was: it tells. */
  private readonly probed: OutsiderCheck[] = [];
  private probedMs = 0;
  private isProbing = false;
  private highest = 0;
  private settledBelow = 0;

  /** One of the crowd, or a probe, got a token. */
  addCrowdToken({ seat, sub }: TokenIdentity): void {
    this.seats.add(seat);
    this.viewers.add(sub);
  }

  /** How many others have come, as far as is known. */
  known(): number {
    let ours = 0;
    for (const seat of this.seats) if (seat < this.settledBelow) ours++;
    return this.settledBelow - ours;
  }

  /** Somebody said something. @returns whether it is one of the others, for the first time */
  addAuthor(viewer: string): boolean {
    if (this.viewers.has(viewer) || this.authors.has(viewer)) return false;
    this.authors.add(viewer);
    return true;
  }

  /** How many others have said something. */
  authorCount(): number {
    return this.authors.size;
  }

  /** Asks whether a check holds: it is told at once, or when it is known how many others came. */
  check(question: OutsiderCheck): void {
    const mismatch = question.mismatchWith(this.known());
    const isWrongAnyway = question.mismatchWith(Number.POSITIVE_INFINITY) !== null;
    if (mismatch === null || isWrongAnyway) question.record(mismatch);
    else this.waiting.push(question);
  }

  /** Whether a check waits to hear how many others there are. */
  hasPendingChecks(): boolean {
    return this.waiting.length + this.probed.length > 0;
  }

  /** Whether a probe is due. @param nowMs since the crowd began */
  needsProbe(nowMs: number): boolean {
    return (
      !this.isProbing && (this.hasPendingChecks() || nowMs - this.probedMs >= PROBE_INTERVAL_MS)
    );
  }

  /** A probe is about to be sent. @param nowMs since the crowd began */
  probeSent(nowMs: number): void {
    this.isProbing = true;
    this.probedMs = nowMs;
    this.probed.push(...this.waiting.splice(0));
  }

  /** It brought these tokens. */
  probeReturned(holders: readonly TokenIdentity[]): void {
    for (const holder of holders) this.addCrowdToken(holder);
    this.highest = Math.max(this.highest, ...holders.map(({ seat }) => seat));
  }

  /** It brought nothing: what waits for it waits for the next one. */
  probeFailed(): void {
    this.isProbing = false;
  }

  /** Tokens of ours that were under way when it came are known by now, or this is the end. */
  settle(): void {
    this.isProbing = false;
    this.settledBelow = this.highest;
    const others = this.known();
    for (const question of this.probed.splice(0)) question.record(question.mismatchWith(others));
    for (const question of this.waiting.splice(0)) this.check(question);
  }
}

/** The end of a mismatch that so many others do not explain either. */
export function outsidersSuffix(others: number): string {
  return others === 0 ? '' : `, and at most ${others} from outside`;
}
