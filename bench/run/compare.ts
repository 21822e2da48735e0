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
    const startMs = performance.now();
    for (let turn = 0; turn < rounds * contenders.length; turn += 1) {
      const at = turn % contenders.length;
      const round = Math.floor(turn / contenders.length) + 1;
      progress.say(
        `${bench}: round ${round} of ${rounds}, ${contenders[at]?.name}`,
        leftMs(turn, rounds * contenders.length, performance.now() - startMs),
      );
      samples[at]?.push(await (started[at] as Started).measure(seconds));
    }
  } finally {
    for (const one of started) await one?.stop();
  }
  const rows = contenders.map(({ name }, at) => rowOf(name, samples, at));
  return {
    bench,
    title,
    rows,
    targets: targets.map((one) => ratioOf(one, contenders, samples)),
    notes,
  };
}

const WARM_UP_S = 2;

/** How long the rest will take, by what was done; nobody knows at first. */
export function leftMs(done: number, all: number, tookMs: number): number | undefined {
  return done === 0 ? undefined : (tookMs / done) * (all - done);
}

/** The last column of those that ours is compared with. */
export const RATIO = 'ours to this';

function rowOf(name: string, all: readonly Samples[], at: number): Row {
  const samples = all[at] ?? [];
  const names = Object.keys(samples[0] ?? {});
  const figures = names.map((one) => [
    one,
    spreadOf(samples.map((sample) => sample[one] ?? Number.NaN)),
  ]);
  if (at > 0) figures.push([RATIO, spreadOf(ratios(all, at))]);
  return { name, isOurs: at === 0, figures: Object.fromEntries(figures) };
}

/** Of the first figure, round by round. */
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
