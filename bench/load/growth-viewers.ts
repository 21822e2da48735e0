import type { BenchOptions } from '../run/bench.ts';
import { inRounds } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import type { Row } from '../run/result.ts';
import { exponentOf, fitLine, spreadOf } from '../run/statistics.ts';
import { formatNumber } from '../run/table.ts';
import { idleCpu } from './idle-cpu.ts';
import { type PollingStep, pollingStep } from './polling-step.ts';
import { ViewerTokens } from './viewer-tokens.ts';

const SIZES = [1_000, 3_000, 10_000, 15_000, 19_000];
const ROUNDS_MAX = 3;
const P99_MAX_MS = 50;

interface Round {
  /** CPU of the server without viewers, in cores. */
  readonly idleCpuCores: number;
  readonly steps: readonly PollingStep[];
  /** Why the round ended before the largest size; null otherwise. */
  readonly endReason: string | null;
}

/** CPU and memory of one server from 1,000 viewers to its limit. */
export async function viewersGrowth({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  const all = await inRounds(Math.min(rounds, ROUNDS_MAX), async (fourbeat, round) => {
    const tokens = new ViewerTokens(fourbeat);
    const steps: PollingStep[] = [];
    let endReason: string | null = null;
    progress.show(`growth: round ${round}, no viewers`);
    const idleCpuCores = await idleCpu(fourbeat.server, seconds);
    for (const size of SIZES) {
      progress.show(`growth: round ${round}, ${size} viewers`);
      const attempt = async () => pollingStep(fourbeat, await tokens.of(size), seconds);
      let step = await attempt();
      // A step that succeeds at the second attempt was disturbed at the first.
      if (!isGood(step)) step = await attempt();
      if (!isGood(step)) {
        endReason = endReasonOf(step);
        break;
      }
      steps.push(step);
    }
    return { idleCpuCores, steps, endReason };
  });
  const fitted = all.filter(({ steps }) => steps.length > 1);
  if (fitted.length === 0)
    throw new Error(`not even ${SIZES[1]} viewers had their responses in time`);
  const exponent = (cost: (step: PollingStep, round: Round) => number) =>
    spreadOf(
      fitted.map((round) => exponentOf(round.steps, viewersOf, (step) => cost(step, round))),
    );
  const line = (of: 'start' | 'slope') =>
    spreadOf(
      fitted.map(
        ({ steps }) => fitLine(steps, viewersOf, ({ serverCpuCores }) => serverCpuCores * 1e6)[of],
      ),
    ).median;
  const largestOfAll = Math.min(...all.map(({ steps }) => steps.at(-1)?.viewers ?? 0));
  return {
    rows: rowsOf(all),
    targets: [
      {
        name: 'exponent of CPU over viewers, with that of an idle server',
        value: exponent((step) => step.serverCpuCores),
        atMost: 1.05,
        aim: 1,
      },
      {
        name: 'exponent of CPU over viewers, without that of an idle server',
        value: exponent((step, { idleCpuCores }) => step.serverCpuCores - idleCpuCores),
        atMost: 1.05,
        aim: 1,
      },
    ],
    notes: [
      `${all.length} rounds. From ${SIZES[0]} to ${largestOfAll} viewers poll on one server, each with five requests a second; the limit is ` +
        `a p99 of ${P99_MAX_MS} ms, or the load. A line through all sizes has ` +
        `${formatNumber(line('start') / 1_000)} ms/s of CPU and ${formatNumber(line('slope'))} µs/s for each viewer: with fewer viewers ` +
        `the shared part of the CPU is larger, and the exponent smaller. Exponent of memory over viewers: ` +
        `${exponent((step) => step.memoryBytes).median.toFixed(2)}. An idle server takes ` +
        `${formatNumber(spreadOf(all.map((round) => round.idleCpuCores)).median * 1_000)} ms/s.`,
      ...new Set(all.flatMap(({ endReason }) => (endReason === null ? [] : [endReason]))),
    ],
  };
}

const viewersOf = ({ viewers }: PollingStep) => viewers;
const isGood = ({ failures, p99Ms }: PollingStep) => failures.length === 0 && p99Ms < P99_MAX_MS;

function endReasonOf({ viewers, p99Ms, failures, isLoadGeneratorLimit }: PollingStep): string {
  const [reason = `p99 was ${p99Ms.toFixed(0)} ms`] = failures;
  return `With ${viewers} viewers: ${reason}${isLoadGeneratorLimit ? ' (LIMITED BY THE LOAD)' : ''}.`;
}

function rowsOf(all: readonly Round[]): Row[] {
  return SIZES.flatMap((size) => {
    const same = all.flatMap(({ steps }) => steps.filter(({ viewers }) => viewers === size));
    if (same.length === 0) return [];
    const figure = (of: (step: PollingStep) => number) => spreadOf(same.map(of));
    return [
      {
        name: `${size.toLocaleString('en')} viewers`,
        figures: {
          'CPU ms/s': figure((step) => step.serverCpuCores * 1_000),
          'CPU µs/s of each': figure((step) => (step.serverCpuCores * 1e6) / size),
          'memory MB': figure((step) => step.memoryBytes / 2 ** 20),
          'p99 ms': figure((step) => step.p99Ms),
        },
      },
    ];
  });
}
