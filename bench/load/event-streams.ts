import type { BenchOptions } from '../run/bench.ts';
import { inRounds } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import type { Row } from '../run/result.ts';
import { fitLine, spreadOf } from '../run/statistics.ts';
import { formatNumber } from '../run/table.ts';
import { fourbeatPush } from './fourbeat-push.ts';
import { type PushLimit, pushLimitOf } from './push-limit.ts';
import { type PushStep, pushStep } from './push-step.ts';
import { ViewerTokens } from './viewer-tokens.ts';

const SIZES = [1_000, 10_000, 19_000];
const ROUNDS_MAX = 3;
const P99_MAX_MS = 250;
const TARGET = { atLeast: 30_000, aim: 100_000 };

/** Measures latency, CPU and memory of event streams, and extrapolates how many of them one core serves. */
export async function measureEventStreams({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  // A new server for each round, since memory of an earlier round would count for the smallest size.
  const all = await inRounds(Math.min(rounds, ROUNDS_MAX), async (fourbeat, round) => {
    const tokens = new ViewerTokens(fourbeat);
    const steps: PushStep[] = [];
    for (const size of SIZES) {
      progress.show(`viewers: round ${round}, ${size} event streams`);
      const task = fourbeatPush(fourbeat, await tokens.of(size));
      steps.push(await pushStep(fourbeat.server, task, seconds));
    }
    return steps;
  });
  const rows = SIZES.map((size, at) => {
    const figure = (of: (step: PushStep) => number) =>
      spreadOf(all.map((steps) => of(steps[at] as PushStep)));
    return {
      name: `${size.toLocaleString('en')} event streams`,
      figures: {
        'p99 ms': figure((step) => step.p99Ms),
        'p50 ms': figure((step) => step.p50Ms),
        'requests or messages/s': figure((step) => step.messagesPerS),
        'CPU µs of each': figure((step) => step.cpuUs),
        'of it the kernel': figure((step) => step.kernelUs),
        'server core %': figure((step) => step.serverCpuCores * 100),
        'load core %': figure((step) => (step.loadCpuUs * step.messagesPerS) / 1e4),
        'memory MB': figure((step) => step.memoryBytes / 2 ** 20),
      },
    };
  });
  const limits = all.map((steps) => pushLimitOf(steps, P99_MAX_MS));
  const isLoadLimit = all.some((steps) => {
    const { cpuUs, loadCpuUs } = steps.at(-1) as PushStep;
    return loadCpuUs > cpuUs;
  });
  return {
    rows: [...rows, memoryRow(all)],
    targets: [
      {
        name: 'event streams by push, without heartbeats (EXTRAPOLATED)',
        value: spreadOf(limits.map(({ viewers }) => viewers)),
        ...TARGET,
      },
    ],
    notes: [
      `${all.length} rounds. Only event streams: the heartbeats by which viewers are counted are part of what shows need, ` +
        'not of this. Latency is the time from the end of an interval to its arrival. Each event stream received ' +
        'every interval once, in order, with the same bytes as all others.',
      'The number of event streams is EXTRAPOLATED, not measured: a process may have 20,000 open files here, and ' +
        `the threads of \`--workers\` belong to one process, so at most ${SIZES.at(-1)?.toLocaleString('en')} were measured. It is the lower of two ` +
        `extrapolations by lines through all measured sizes: where the core is saturated (${rounded(limits, 'saturatedAt')}), ` +
        `and where p99 is ${P99_MAX_MS} ms (${rounded(limits, 'lateAt')}).`,
      ...(isLoadLimit ? ['LIMITED BY THE LOAD: a message costs it more CPU than the server.'] : []),
    ],
  };
}

const rounded = (limits: readonly PushLimit[], of: 'saturatedAt' | 'lateAt') =>
  formatNumber(spreadOf(limits.map((limit) => limit[of])).median);

/** Memory of one more event stream: the slope of a line through all sizes. */
function memoryRow(all: readonly (readonly PushStep[])[]): Row {
  const slopes = all.map(
    (steps) =>
      fitLine(
        steps,
        ({ viewers }) => viewers,
        ({ memoryBytes }) => memoryBytes,
      ).slope,
  );
  return { name: 'memory of an event stream', figures: { 'bytes a viewer': spreadOf(slopes) } };
}
