import { CHECKS, type Check, type Verdicts } from '../../../crowd/ledger/verdict.ts';

/** Nobody tells the crowd what the producer sends: of events its books know nothing. */
const KEPT: readonly Check[] = CHECKS.filter((check) => check !== 'events');
/** What the books cannot tell any more once somebody was banned: they do not know when. */
const TOLD_BY_BANNED: readonly Check[] = ['count', 'answers', 'winners'];
/** Who is banned learns it by a heartbeat. */
const LEARNT_MS = 2_000;

/** The first number of the service that does not fit the books of a crowd. */
export class Mismatch {
  private first: { readonly text: string; readonly sinceMs: number } | null = null;

  /**
   * What did not fit; null while all does, and until it is clear that nobody was banned just before.
   * @param nowMs by a clock that only runs forward
   * @param isLast nothing more will come to be known
   */
  told(verdicts: Verdicts, hasBanned: boolean, nowMs: number, isLast = false): string | null {
    const checks = KEPT.filter((check) => !hasBanned || !TOLD_BY_BANNED.includes(check));
    const text = checks.map((check) => verdicts[check].first).find((first) => first !== null);
    if (text === undefined) this.first = null;
    else if (this.first?.text !== text) this.first = { text, sinceMs: nowMs };
    if (!this.first) return null;
    const isClear = isLast || nowMs - this.first.sinceMs >= LEARNT_MS;
    return isClear ? this.first.text : null;
  }
}

/** How often a number of the service was compared. */
export function checksMade(verdicts: Verdicts): number {
  return KEPT.reduce((sum, check) => sum + verdicts[check].checks, 0);
}
