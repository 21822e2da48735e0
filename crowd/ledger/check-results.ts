/** The checks of the service that a crowd makes (O-18). */
export const CHECKS = ['count', 'bodies', 'intervals', 'answers', 'winners', 'events'] as const;
export type Check = (typeof CHECKS)[number];

/** Result of a check: how often it was made and failed, and the text of the first failure. */
export interface CheckResult {
  readonly checks: number;
  readonly mismatches: number;
  readonly first: string | null;
}
export type CheckResults = Readonly<Record<Check, CheckResult>>;

/** Whether no check has failed. */
export function allPassed(results: CheckResults): boolean {
  return CHECKS.every((check) => results[check].mismatches === 0);
}

export class CheckRecorder {
  private readonly resultsByCheck = mapChecks(() => ({
    checks: 0,
    mismatches: 0,
    first: null as string | null,
  }));

  /** Records a check. @param mismatch the text of the failure; null when it passed */
  record(check: Check, mismatch: string | null): void {
    const result = this.resultsByCheck[check];
    result.checks++;
    if (mismatch === null) return;
    result.mismatches++;
    result.first ??= mismatch;
  }

  results(): CheckResults {
    return mapChecks((check) => ({ ...this.resultsByCheck[check] }));
  }
}

/** Results before any check. */
export const NO_CHECK_RESULTS: CheckResults = new CheckRecorder().results();

function mapChecks<T>(make: (check: Check) => T): Record<Check, T> {
  return Object.fromEntries(CHECKS.map((check) => [check, make(check)])) as Record<Check, T>;
}
