/** What the demo checks of the service (O-18). */
export const CHECKS = ['count', 'bodies', 'intervals', 'answers', 'winners', 'events'] as const;
export type Check = (typeof CHECKS)[number];

/** How a check stands: how often it was made, how often it failed, and how it failed first. */
export interface CheckResult {
  readonly checks: number;
  readonly mismatches: number;
  readonly first: string | null;
}
export type CheckResults = Readonly<Record<Check, CheckResult>>;

/** Verdicts before anything was checked. */
export const NO_CHECK_RESULTS: CheckResults = each(() => ({
  checks: 0,
  mismatches: 0,
  first: null,
}));

/** Whether every check held. */
export function allPassed(verdicts: CheckResults): boolean {
  return CHECKS.every((check) => verdicts[check].mismatches === 0);
}

/** Keeps the verdicts. */
export class CheckRecorder {
  private readonly resultsByCheck = each(() => ({
    checks: 0,
    mismatches: 0,
    first: null as string | null,
  }));

  /** Notes a check. @param mismatch what is wrong, or null when it held */
  record(check: Check, mismatch: string | null): void {
    const verdict = this.resultsByCheck[check];
    verdict.checks++;
    if (mismatch === null) return;
    verdict.mismatches++;
    verdict.first ??= mismatch;
  }

  /** The verdicts as they are now. */
  results(): CheckResults {
    return each((check) => ({ ...this.resultsByCheck[check] }));
  }
}

function each<T>(make: (check: Check) => T): Record<Check, T> {
  return Object.fromEntries(CHECKS.map((check) => [check, make(check)])) as Record<Check, T>;
}
