import type { BenchOptions } from './bench.ts';
import type { Result, Row, Target } from './result.ts';
import { spreadOf } from './statistics.ts';

/** One of those that are compared. */
export interface Contender {
  readonly name: string;
  start(): Promise<Started>;
}

/** A contender that is ready. */
export interface Started {
  /**
   * Works for so long.
   * @returns figures by their name with its unit; the first is what is compared
   * @throws WrongAnswer
   */
  measure(seconds: number): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** A ratio of ours to another's, of the first figure. */
export interface RatioTarget {
  readonly against: string;
  readonly atLeast: number;
  readonly aim: number;
}

export interface Comparison {
  readonly bench: string;
  readonly title: string;
  /** Ours is the first. */
  readonly contenders: readonly Contender[];
  readonly targets: readonly RatioTarget[];
  readonly notes?: readonly string[];
}

type Samples = Record<string, number>[];

/**
 * Has contenders take turns, A B C A B C, so that a machine that gets slower for a while does so to
 * all of them; ratios are those of a round. A first turn of each is not counted.
 */
export async function compare(
  { bench, title, contenders, targets, notes = [] }: Comparison,
  { rounds, seconds, progress }: BenchOptions,
): Promise<Result> {
  const started: Started[] = [];
  const samples: Samples[] = contenders.map(() => []);
  try {
    for (const [at, contender] of contenders.entries()) {
      progress.say(`${bench}: ${contender.name} starts`);
      const one = await contender.start();
      started[at] = one;
      await one.measure(Math.min(seconds, WARM_UP_S));
    }
    for (let round = 1; round <= rounds; round++) {
      for (const [at, contender] of contenders.entries()) {
        progress.say(`${bench}: round ${round} of ${rounds}, ${contender.name}`);
        samples[at]?.push(await (started[at] as Started).measure(seconds));
      }
    }
  } finally {
    for (const one of started) await one?.stop();
  }
  const rows = contenders.map(({ name }, at) => rowOf(name, samples[at] as Samples));
  return {
    bench,
    title,
    rows,
    targets: targets.map((one) => ratioOf(one, contenders, samples)),
    notes,
  };
}

const WARM_UP_S = 2;

function rowOf(name: string, samples: Samples): Row {
  const names = Object.keys(samples[0] ?? {});
  const figures = names.map((one) => [
    one,
    spreadOf(samples.map((sample) => sample[one] ?? Number.NaN)),
  ]);
  return { name, figures: Object.fromEntries(figures) };
}

function ratioOf(
  { against, atLeast, aim }: RatioTarget,
  contenders: readonly Contender[],
  samples: readonly Samples[],
): Target {
  const firsts = (at: number) =>
    (samples[at] ?? []).map((sample) => Object.values(sample)[0] ?? Number.NaN);
  const others = firsts(contenders.findIndex(({ name }) => name === against));
  const ratios = firsts(0).map((own, round) => own / (others[round] as number));
  return { name: `against ${against}`, value: spreadOf(ratios), atLeast, aim };
}
