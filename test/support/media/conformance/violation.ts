/** A rule that something breaks. */
export interface Violation {
  /** The rule's name in this check. */
  readonly rule: string;
  /** What breaks it, and where. */
  readonly detail: string;
}

/** Collects what is wrong. */
export class Findings {
  readonly violations: Violation[] = [];

  /** @returns whether it holds */
  check(holds: boolean, rule: string, detail: string): boolean {
    if (!holds) this.violations.push({ rule, detail });
    return holds;
  }
}

/** Files as a client gets them; null: there is none. */
export type ReadFile = (path: string) => Uint8Array | null;
