import type { Dependency } from './dependencies.ts';
import type { Progress } from './progress.ts';
import type { Result } from './result.ts';

export interface BenchOptions {
  /** Measurements of each contender or step. Some benchmarks run fewer, because a round takes minutes. */
  readonly rounds: number;
  /** Seconds of each measurement. Some benchmarks need more, or have a fixed duration. */
  readonly seconds: number;
  readonly progress: Progress;
}

/** One of the benchmarks of `npm run bench`. */
export interface Bench {
  readonly name: string;
  /** Description for `--help`. */
  readonly description: string;
  /** Programs that the benchmark starts and that npm does not install. */
  readonly requires?: readonly Dependency[];
  /** @throws IncorrectResponse when a contender responds incorrectly */
  run(options: BenchOptions): Promise<Result>;
}

/** A measured program responded incorrectly, so that its speed means nothing. */
export class IncorrectResponse extends Error {
  override readonly name = 'IncorrectResponse';
}
