import type { Needed } from './needed.ts';
import type { Progress } from './progress.ts';
import type { Result } from './result.ts';

/** How long and how often something is measured. */
export interface BenchOptions {
  /** How often the contenders take turns. */
  readonly rounds: number;
  /** Of one turn. */
  readonly seconds: number;
  readonly progress: Progress;
}

/** One of the measurements that `npm run bench` makes. */
export interface Bench {
  readonly name: string;
  /** What it measures, for `--help`. */
  readonly about: string;
  /** Servers and tools that it starts, which npm does not install. */
  readonly needs?: readonly Needed[];
  /** @throws WrongAnswer when something is fast and wrong */
  run(options: BenchOptions): Promise<Result>;
}

/** What was measured does not do what it should: its speed says nothing. */
export class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}
