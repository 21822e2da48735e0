import type { Spread } from './statistics.ts';

/** The result of a benchmark. */
export interface Result {
  readonly bench: string;
  /** One line of text. */
  readonly title: string;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
  /** Explanations, one line each. */
  readonly notes: readonly string[];
  /** Parts that failed, with the reason; they have no rows. */
  readonly failures?: readonly string[];
}

/** A result as it is stored in a JSON file. */
export interface StoredResult extends Result {
  /** ISO 8601. */
  readonly madeAt: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly seconds: number;
}

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly bun: string;
  readonly system: string;
}

/** A row of a result: a contender, or a step of a growing load. */
export interface Row {
  readonly name: string;
  /** Whether the row is our service. */
  readonly isOurs?: boolean;
  /** Figures by their name with its unit, such as `requests/s`. The chart shows the first of the first row. */
  readonly figures: Readonly<Record<string, Spread>>;
}

/** A required value of a figure, either a minimum or a maximum, and the better value that we aim for. */
export interface Target {
  readonly name: string;
  readonly value: Spread;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly aim: number;
}

/** Compares the median with the target: `aim` is reached, only the target is, or neither is. */
export function verdictOf({ value, atLeast, atMost, aim }: Target): 'aim' | 'reached' | 'missed' {
  const isMore = atLeast !== undefined;
  const isAt = (limit: number) => (isMore ? value.median >= limit : value.median <= limit);
  if (isAt(aim)) return 'aim';
  return isAt((atLeast ?? atMost) as number) ? 'reached' : 'missed';
}
