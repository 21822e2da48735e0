import { seededRandom } from '../seeded-random.ts';
import type { Fault } from './faults.ts';
import { type Fixture, openFixture } from './fixture.ts';
import type { LoadFigures } from './load.ts';
import { Scene } from './scene.ts';

export interface RunOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Long outages in every round, as the full run has them. */
  readonly isFull: boolean;
  readonly onProgress?: (line: string) => void;
  /** An open ground; else one of its own. */
  readonly fixture?: Fixture;
}

/** What came of a fault, over all its rounds. */
export interface Report {
  readonly name: string;
  readonly seed: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly figures: LoadFigures;
  /** ms until everything was right again. */
  readonly rightMs: { readonly median: number; readonly max: number };
  readonly violations: readonly string[];
  /** What came late while the machine was overloaded, and is not counted. */
  readonly excuses: readonly string[];
  /** What nodes said, when something was wrong. */
  readonly log: string;
}

// Viewer tokens last ten minutes, and an act is checked as a whole.
const ACT_MS = 180_000;
const CALM_MS = 1_000;
const LOG_CHARACTERS = 20_000;

/** Breaks things over and over under load, and checks everything. */
export async function runFault(fault: Fault, options: RunOptions): Promise<Report> {
  const { rounds, seed, isFull, onProgress = () => {} } = options;
  const random = seededRandom(seed);
  const fixture = options.fixture ?? (await openFixture(fault.fixture));
  const startedMs = performance.now();
  const times: number[] = [];
  const violations: string[] = [];
  const excuses: string[] = [];
  const acts: LoadFigures[] = [];
  let round = 0;
  try {
    while (round < rounds) {
      const scene = await Scene.open(fixture, random);
      const { violations: found, excused } = scene.judgement;
      const actMs = performance.now();
      await Bun.sleep(CALM_MS);
      while (round < rounds && performance.now() - actMs < ACT_MS) {
        const before = found.length;
        times.push(...(await fault.round(scene, round, isFull)));
        round++;
        note(found, before, `in round ${round}`);
        if (round % 5 === 0) {
          onProgress(
            `${fault.name}: ${round} rounds, ${violations.length + found.length} violations`,
          );
        }
      }
      const before = found.length;
      acts.push(await scene.close());
      note(found, before, `after round ${round}`);
      violations.push(...found);
      excuses.push(...excused);
    }
  } finally {
    if (!options.fixture) await fixture.close();
  }
  const [max = 0] = times.sort((a, b) => b - a);
  const log = fixture.cluster.nodes.map(
    (node, number) => `node ${number}:\n${shortened(node.log())}`,
  );
  return {
    ...{ name: fault.name, seed, rounds, violations, excuses, figures: sumOf(acts) },
    seconds: (performance.now() - startedMs) / 1_000,
    rightMs: { median: times[times.length >> 1] ?? 0, max },
    log: violations.length === 0 ? '' : log.join('\n').slice(-LOG_CHARACTERS),
  };
}

/** A report in one line. */
export function lineOf({ name, seed, rounds, seconds, figures, rightMs, violations }: Report) {
  const { requests, acknowledged, unknown, refused, unavailable, unavailableMs } = figures;
  return (
    `${name}: ${rounds} rounds in ${seconds.toFixed(0)} s (seed ${seed}); ${requests} requests, ` +
    `${acknowledged} acknowledged, ${unknown} unknown, ${refused} refused; ` +
    `${figures.counts} counts and ${figures.bodies} bodies checked; ` +
    `${unavailable} times 503, ${unavailableMs.toFixed(0)} ms at the latest; ` +
    `right again after ${rightMs.median.toFixed(0)} ms (median), ${rightMs.max.toFixed(0)} ms ` +
    `at most; ${violations.length} violations` +
    (figures.excused > 0 ? `; ${figures.excused} LATE WHILE THE MACHINE WAS OVERLOADED` : '')
  );
}

/** Says when violations were found. */
function note(violations: string[], from: number, when: string): void {
  for (let index = from; index < violations.length; index++) violations[index] += ` (${when})`;
}

function sumOf(acts: readonly LoadFigures[]): LoadFigures {
  const [first, ...others] = acts as [LoadFigures, ...LoadFigures[]];
  const sum = { ...first };
  for (const act of others) {
    for (const key of Object.keys(sum) as (keyof LoadFigures)[]) {
      const isPeak = key === 'unavailableMs' || key === 'slowestMs';
      sum[key] = isPeak ? Math.max(sum[key], act[key]) : sum[key] + act[key];
    }
  }
  return sum;
}

/** A log without the refusals, but with how often each reason was given. */
function shortened(log: string): string {
  const reasons = new Map<string, number>();
  const others = log.split('\n').filter((line) => {
    if (!line.includes('"msg":"request rejected"')) return true;
    const { reason, count } = JSON.parse(line) as { reason: string; count: number };
    reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    return false;
  });
  return [...others, ...[...reasons].map(([reason, count]) => `${count} times: ${reason}`)].join(
    '\n',
  );
}
