import type { BenchOptions } from '../run/bench.ts';
import { startFourbeat } from '../run/fourbeat.ts';
import type { Result } from '../run/result.ts';
import { spreadOf } from '../run/statistics.ts';
import { fourbeatPush } from './fourbeat-push.ts';
import { type PushStep, pushStep } from './push-step.ts';
import { ViewerTokens } from './viewer-tokens.ts';

const SIZES = [1_000, 5_000, 10_000, 19_000];
const ROUNDS_MAX = 3;
const LATE_MAX_MS = 250;
const TARGET = { atLeast: 30_000, aim: 100_000 };

/** Event streams of one stream: how late an interval is at the last of them. */
export async function pushedViewers({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<Pick<Result, 'rows' | 'targets' | 'notes'>> {
  const fourbeat = await startFourbeat();
  const tokens = new ViewerTokens(fourbeat);
  const all: PushStep[][] = [];
  try {
    for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
      const steps: PushStep[] = [];
      for (const size of SIZES) {
        progress.say(`viewers: round ${round}, ${size} event streams`);
        const task = fourbeatPush(fourbeat, await tokens.of(size));
        steps.push(await pushStep(fourbeat.server, task, seconds));
      }
      all.push(steps);
    }
  } finally {
    await fourbeat.stop();
  }
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
        'server core %': figure((step) => step.cpuShare * 100),
        'memory MB': figure((step) => step.memoryBytes / 2 ** 20),
      },
    };
  });
  const limits = all.map(limitOf);
  const isLoad = all.some((steps) => steps.some(({ cpuUs, loadCpuUs }) => loadCpuUs > cpuUs));
  return {
    rows,
    targets: [
      {
        name: 'viewers, push (EXTRAPOLATED)',
        value: spreadOf(limits.map(({ viewers }) => viewers)),
        ...TARGET,
      },
    ],
    notes: [
      'An event stream is late by the time from the end of an interval to its arrival. Each stream got ' +
        'every interval once, in order, with the same bytes as all others.',
      `The number of event streams is extrapolated: a process may have 20,000 open files here, so ` +
        `${SIZES.at(-1)} is the most that was measured. It is where the core would be full ` +
        `(${rounded(limits.map(({ fullAt }) => fullAt))}) or the 99th of 100 streams ${LATE_MAX_MS} ms late ` +
        `(${rounded(limits.map(({ lateAt }) => lateAt))}), whichever is less, by the line through the two largest sizes.`,
      ...(isLoad ? ['LIMITED BY THE LOAD: it takes longer for a message than the server.'] : []),
    ],
  };
}

interface PushLimit {
  readonly viewers: number;
  /** Where the server's core would be full. */
  readonly fullAt: number;
  /** Where intervals would be too late. */
  readonly lateAt: number;
}

function limitOf(steps: readonly PushStep[]): PushLimit {
  const [before, last] = steps.slice(-2) as [PushStep, PushStep];
  const reaches = (limit: number, of: (step: PushStep) => number) => {
    const slope = (of(last) - of(before)) / (last.viewers - before.viewers);
    return last.viewers + (limit - of(last)) / slope;
  };
  const fullAt = reaches(1, (step) => step.cpuShare);
  const lateAt = reaches(LATE_MAX_MS, (step) => step.p99Ms);
  return { viewers: Math.min(fullAt, lateAt), fullAt, lateAt };
}

const rounded = (values: readonly number[]) =>
  Math.round(spreadOf(values).median).toLocaleString('en');
