import type { Spread } from './statistics.ts';

/** What a bench found, for people, for JSON and for a chart. */
export interface Result {
  readonly bench: string;
  /** What was measured, in a line. */
  readonly title: string;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
  /** What there is to say besides, a line each. */
  readonly notes: readonly string[];
  /** Parts of it that failed, and why: they have no rows. */
  readonly failures?: readonly string[];
}

/** A result as it is in a file. */
export interface MadeResult extends Result {
  /** ISO 8601. */
  readonly madeAt: string;
  readonly machine: Machine;
  readonly rounds: number;
  /** Of one turn. */
  readonly seconds: number;
}

/** Where a result was made. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly bun: string;
  readonly system: string;
}

/** A contender, or a step of something that grows. */
export interface Row {
  readonly name: string;
  /** Whether it is ours, among others. */
  readonly isOurs?: boolean;
  /** Figures by their name with its unit, such as `requests/s`; the first is the one of the chart. */
  readonly figures: Readonly<Record<string, Spread>>;
}

/** Whether a figure is where it should be. */
export interface Target {
  readonly name: string;
  readonly value: Spread;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly aim: number;
}

/** `aim`, `reached`, or `missed` by the median. */
export function verdictOf({ value, atLeast, atMost, aim }: Target): 'aim' | 'reached' | 'missed' {
  const isMore = atLeast !== undefined;
  const isAt = (limit: number) => (isMore ? value.median >= limit : value.median <= limit);
  if (isAt(aim)) return 'aim';
  return isAt((atLeast ?? atMost) as number) ? 'reached' : 'missed';
}
