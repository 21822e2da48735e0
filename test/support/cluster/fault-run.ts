import { seededRandom } from '../seeded-random.ts';
import type { Fault } from './faults.ts';
import { type Fixture, openFixture } from './fixture.ts';
import type { LoadFigures } from './load.ts';
import { Scenario } from './scenario.ts';

export interface RunOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Long outages in every round, for `npm run faults`. */
  readonly isFull: boolean;
  readonly onProgress?: (message: string) => void;
  /** An open fixture; without it the run opens and closes its own. */
  readonly fixture?: Fixture;
}

/** The result of all rounds of a fault. */
export interface FaultReport {
  readonly name: string;
  readonly seed: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly figures: LoadFigures;
  /** ms from a repair to the recovery. */
  readonly recoveryMs: { readonly median: number; readonly max: number };
  readonly violations: readonly string[];
  /** Time limits that were missed while the machine was overloaded; they are no violations. */
  readonly overloadFailures: readonly string[];
  /** The logs of the nodes; empty without violations. */
  readonly log: string;
}

// The final checks of a scenario need its viewer tokens, which expire after 10 minutes.
const SCENARIO_MAX_MS = 180_000;
const WARM_UP_MS = 1_000;
const LOG_CHARACTERS = 20_000;

/** Runs a fault for a number of rounds under load, and checks everything that clients observed. */
export async function runFault(fault: Fault, options: RunOptions): Promise<FaultReport> {
  const { rounds, seed, isFull, onProgress = () => {} } = options;
  const random = seededRandom(seed);
  const fixture = options.fixture ?? (await openFixture(fault.fixture));
  const startedMs = performance.now();
  const recoveryTimesMs: number[] = [];
  const violations: string[] = [];
  const overloadFailures: string[] = [];
  const scenarioFigures: LoadFigures[] = [];
  let round = 0;
  try {
    while (round < rounds) {
      const scenario = await Scenario.open(fixture, random);
      const { violations: newViolations, overloadFailures: newOverloadFailures } = scenario.checks;
      const scenarioStartedMs = performance.now();
      await Bun.sleep(WARM_UP_MS);
      while (round < rounds && performance.now() - scenarioStartedMs < SCENARIO_MAX_MS) {
        const countBefore = newViolations.length;
        recoveryTimesMs.push(...(await fault.round(scenario, round, isFull)));
        round++;
        appendContext(newViolations, countBefore, `in round ${round}`);
        if (round % 5 === 0) {
          const count = violations.length + newViolations.length;
          onProgress(`${fault.name}: ${round} rounds, ${count} violations`);
        }
      }
      const countBefore = newViolations.length;
      scenarioFigures.push(await scenario.close());
      appendContext(newViolations, countBefore, `after round ${round}`);
      violations.push(...newViolations);
      overloadFailures.push(...newOverloadFailures);
    }
  } finally {
    if (!options.fixture) await fixture.close();
  }
  const [max = 0] = recoveryTimesMs.sort((a, b) => b - a);
  const logs = fixture.cluster.nodes.map(
    (node, number) => `node ${number}:\n${withoutRejections(node.log())}`,
  );
  return {
    ...{ name: fault.name, seed, rounds, violations, overloadFailures },
    figures: sumOf(scenarioFigures),
    seconds: (performance.now() - startedMs) / 1_000,
    recoveryMs: { median: recoveryTimesMs[recoveryTimesMs.length >> 1] ?? 0, max },
    log: violations.length === 0 ? '' : logs.join('\n').slice(-LOG_CHARACTERS),
  };
}

/** A report as one line of text. */
export function summaryOf(report: FaultReport): string {
  const { name, seed, rounds, seconds, figures, recoveryMs, violations } = report;
  const { requests, acknowledged, unknown, refused, unavailable, maxUnavailableMs } = figures;
  return (
    `${name}: ${rounds} rounds in ${seconds.toFixed(0)} s (seed ${seed}); ${requests} requests, ` +
    `${acknowledged} acknowledged, ${unknown} unknown, ${refused} refused; ` +
    `${figures.checkedCounts} counts and ${figures.checkedBodies} bodies checked; ` +
    `${unavailable} responses 503, the slowest after ${maxUnavailableMs.toFixed(0)} ms; ` +
    `recovered after ${recoveryMs.median.toFixed(0)} ms (median), ${recoveryMs.max.toFixed(0)} ms ` +
    `(maximum); ${violations.length} violations` +
    (figures.overloadFailures > 0
      ? `; ${figures.overloadFailures} LIMITS MISSED WHILE THE MACHINE WAS OVERLOADED`
      : '')
  );
}

/** Appends to each violation from an index on in which round it was found. */
function appendContext(violations: string[], from: number, context: string): void {
  for (let index = from; index < violations.length; index++) violations[index] += ` (${context})`;
}

function sumOf(figures: readonly LoadFigures[]): LoadFigures {
  const [first, ...others] = figures as [LoadFigures, ...LoadFigures[]];
  const sum = { ...first };
  for (const other of others) {
    for (const key of Object.keys(sum) as (keyof LoadFigures)[]) {
      const isMaximum = key === 'maxUnavailableMs' || key === 'maxLatencyMs';
      sum[key] = isMaximum ? Math.max(sum[key], other[key]) : sum[key] + other[key];
    }
  }
  return sum;
}

/** A log in which the lines of rejected requests are replaced by the number of each reason. */
function withoutRejections(log: string): string {
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
