import { CHECKS, type Check, type CheckResults } from '../../../crowd/ledger/check-results.ts';

/** The crowd of a rehearsal does not know what the producer sends, so it cannot check events. */
const APPLICABLE_CHECKS: readonly Check[] = CHECKS.filter((check) => check !== 'events');
/** Checks that are void after a ban, since the crowd does not know when it took effect. */
const AFFECTED_BY_BANS: readonly Check[] = ['count', 'answers', 'winners'];
/** Time in which a banned viewer surely learns of it, by its next heartbeat. */
const BAN_NOTICE_MS = 2_000;

/** Finds the first failed check of a crowd that no ban explains. */
export class MismatchDetector {
  private first: { readonly text: string; readonly sinceMs: number } | null = null;

  /**
   * The first mismatch; null while there is none, and until it is certain that no ban caused it.
   * @param nowMs of a monotonic clock
   * @param isLast no later update will follow
   */
  update(verdicts: CheckResults, hasBanned: boolean, nowMs: number, isLast = false): string | null {
    const checks = APPLICABLE_CHECKS.filter(
      (check) => !hasBanned || !AFFECTED_BY_BANS.includes(check),
    );
    const text = checks.map((check) => verdicts[check].first).find((first) => first !== null);
    if (text === undefined) this.first = null;
    else if (this.first?.text !== text) this.first = { text, sinceMs: nowMs };
    if (!this.first) return null;
    const isCertain = isLast || nowMs - this.first.sinceMs >= BAN_NOTICE_MS;
    return isCertain ? this.first.text : null;
  }
}

export function countChecks(verdicts: CheckResults): number {
  return APPLICABLE_CHECKS.reduce((sum, check) => sum + verdicts[check].checks, 0);
}
