import type { ViewerClaims } from '../../protocol/tokens.ts';

// A service forgets the seats that it has at hand after 10 minutes without a new viewer (N-16).
const RARELY_MS = 240_000;

/** A check that fails, if at all, for want of others. */
export interface Question {
  /** What is wrong when there are at most so many others, or null; more of them never make it worse. */
  mismatchWith(others: number): string | null;
  /** Told once what is wrong, or null. */
  note(mismatch: string | null): void;
}

/** The part of a viewer token that tells who has it. */
export type Holder = Pick<ViewerClaims, 'seat' | 'sub'>;

/**
 * How many viewers there are besides the crowd, at most: somebody may have opened the page of the
 * show. This does not come from any count. Whoever does anything has a seat; seats are given from 0
 * on without gaps (T-8), and our tokens tell which of them are ours. So the seat of a new identifier,
 * a probe, tells how many others came before it. One is asked for when a check needs others that are
 * not known yet, and then that check waits for it.
 */
export class Others {
  private readonly seats = new Set<number>();
  private readonly viewers = new Set<string>();
  private readonly heard = new Set<string>();
  /** Asked since the last probe was sent. */
  private readonly waiting: Question[] = [];
  /** Asked before it was: it tells. */
  private readonly probed: Question[] = [];
  private probedMs = 0;
  private isProbing = false;
  private highest = 0;
  private settledBelow = 0;

  /** One of the crowd, or a probe, got a token. */
  addOurs({ seat, sub }: Holder): void {
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
  hear(viewer: string): boolean {
    if (this.viewers.has(viewer) || this.heard.has(viewer)) return false;
    this.heard.add(viewer);
    return true;
  }

  /** How many others have said something. */
  speakers(): number {
    return this.heard.size;
  }

  /** Asks whether a check holds: it is told at once, or when it is known how many others came. */
  ask(question: Question): void {
    const mismatch = question.mismatchWith(this.known());
    const isWrongAnyway = question.mismatchWith(Number.POSITIVE_INFINITY) !== null;
    if (mismatch === null || isWrongAnyway) question.note(mismatch);
    else this.waiting.push(question);
  }

  /** Whether a check waits to hear how many others there are. */
  isAsked(): boolean {
    return this.waiting.length + this.probed.length > 0;
  }

  /** Whether a probe is due. @param nowMs since the crowd began */
  needsProbe(nowMs: number): boolean {
    return !this.isProbing && (this.isAsked() || nowMs - this.probedMs >= RARELY_MS);
  }

  /** A probe is about to be sent. @param nowMs since the crowd began */
  probing(nowMs: number): void {
    this.isProbing = true;
    this.probedMs = nowMs;
    this.probed.push(...this.waiting.splice(0));
  }

  /** It brought these tokens. */
  found(holders: readonly Holder[]): void {
    for (const holder of holders) this.addOurs(holder);
    this.highest = Math.max(this.highest, ...holders.map(({ seat }) => seat));
  }

  /** It brought nothing: what waits for it waits for the next one. */
  failed(): void {
    this.isProbing = false;
  }

  /** Tokens of ours that were under way when it came are known by now, or this is the end. */
  settle(): void {
    this.isProbing = false;
    this.settledBelow = this.highest;
    const others = this.known();
    for (const question of this.probed.splice(0)) question.note(question.mismatchWith(others));
    for (const question of this.waiting.splice(0)) this.ask(question);
  }
}

/** The end of a mismatch that so many others do not explain either. */
export function besides(others: number): string {
  return others === 0 ? '' : `, and at most ${others} from outside`;
}
