/** A broken rule. */
export interface Violation {
  readonly rule: string;
  /** Where and how it is broken. */
  readonly detail: string;
}

export class Findings {
  readonly violations: Violation[] = [];

  /** Records a violation unless the rule holds. @returns `holds` */
  check(holds: boolean, rule: string, detail: string): boolean {
    if (!holds) this.violations.push({ rule, detail });
    return holds;
  }
}

/** Reads a file as a client; null for a missing one. */
export type ReadFile = (path: string) => Uint8Array | null;
