import type { BenchOptions } from './bench.ts';
import type { Result, Row, Target } from './result.ts';
import { spreadOf } from './statistics.ts';

/** A program that is compared with others. */
export interface Contender {
  readonly name: string;
  start(): Promise<Started>;
}

/** A contender that is running. */
export interface Started {
  /**
   * Measures for this many seconds.
   * @returns figures by their name with its unit; the first one is compared
   * @throws IncorrectResponse
   */
  measure(seconds: number): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** A target for the ratio of our first figure to that of the contender `against`. */
interface RatioTarget {
  readonly against: string;
  readonly atLeast: number;
  readonly aim: number;
}

export interface Comparison {
  readonly bench: string;
  readonly title: string;
  /** The contenders; our service is the first. */
  readonly contenders: readonly Contender[];
  readonly targets: readonly RatioTarget[];
  readonly notes?: readonly string[];
}

type Samples = Record<string, number>[];

/**
 * Measures contenders alternately (A B C A B C), so that a temporary slowdown of the machine affects all
 * of them. Ratios are computed per round. The first measurement of each contender is a warm-up.
 */
export async function compare(
  { bench, title, contenders, targets, notes = [] }: Comparison,
  { rounds, seconds, progress }: BenchOptions,
): Promise<Result> {
  const started: Started[] = [];
  const samples: Samples[] = contenders.map(() => []);
  try {
    for (const [at, contender] of contenders.entries()) {
      progress.show(`${bench}: ${contender.name} starts`);
      const running = await contender.start();
      started[at] = running;
      await running.measure(Math.min(seconds, WARM_UP_S));
    }
    const startMs = performance.now();
    for (let done = 0; done < rounds * contenders.length; done += 1) {
      const at = done % contenders.length;
      const round = Math.floor(done / contenders.length) + 1;
      progress.show(
        `${bench}: round ${round} of ${rounds}, ${contenders[at]?.name}`,
        leftMs(done, rounds * contenders.length, performance.now() - startMs),
      );
      samples[at]?.push(await (started[at] as Started).measure(seconds));
    }
  } finally {
    for (const contender of started) await contender?.stop();
  }
  const rows = contenders.map(({ name }, at) => rowOf(name, samples, at));
  return {
    bench,
    title,
    rows,
    targets: targets.map((target) => ratioOf(target, contenders, samples)),
    notes,
  };
}

const WARM_UP_S = 2;

/** Estimated remaining time in ms; undefined before the first measurement. */
export function leftMs(done: number, all: number, tookMs: number): number | undefined {
  return done === 0 ? undefined : (tookMs / done) * (all - done);
}

/** Name of the column: our first figure divided by that of the contender in this row. */
export const RATIO = 'ours to this';

function rowOf(name: string, all: readonly Samples[], at: number): Row {
  const samples = all[at] ?? [];
  const names = Object.keys(samples[0] ?? {});
  const figures = names.map((figure) => [
    figure,
    spreadOf(samples.map((sample) => sample[figure] ?? Number.NaN)),
  ]);
  if (at > 0) figures.push([RATIO, spreadOf(ratios(all, at))]);
  return { name, isOurs: at === 0, figures: Object.fromEntries(figures) };
}

/** The ratios of the first figures, by round. */
function ratios(all: readonly Samples[], other: number): number[] {
  const firsts = (at: number) =>
    (all[at] ?? []).map((sample) => Object.values(sample)[0] ?? Number.NaN);
  const others = firsts(other);
  return firsts(0).map((own, round) => own / (others[round] as number));
}

function ratioOf(
  { against, atLeast, aim }: RatioTarget,
  contenders: readonly Contender[],
  samples: readonly Samples[],
): Target {
  const other = contenders.findIndex(({ name }) => name === against);
  return { name: `against ${against}`, value: spreadOf(ratios(samples, other)), atLeast, aim };
}
