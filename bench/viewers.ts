import { measureEventStreams } from './load/event-streams.ts';
import { findLargest } from './load/find-largest.ts';
import { CONNECTIONS_MAX, type PollingStep, pollingStep } from './load/polling-step.ts';
import { measureViewerMemory } from './load/viewer-memory.ts';
import { ViewerTokens } from './load/viewer-tokens.ts';
import type { Bench, BenchOptions } from './run/bench.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { type PartialResult, runParts } from './run/parts.ts';
import type { Row } from './run/result.ts';
import { spreadOf } from './run/statistics.ts';

const VIEWERS_MAX = 30_000;
const STEP = 500;
/** Later rounds search within this distance of the first result. */
const SEARCH_RADIUS = 1_000;
const P99_MAX_MS = 50;
const SECONDS_MIN = 6;
const ROUNDS_MAX = 3;
const POLLING = { atLeast: 15_000, aim: 20_000 };

/** The number of viewers that one core serves, by polling and by push, and the memory of a viewer. */
export const viewers: Bench = {
  name: 'viewers',
  description:
    'the most viewers on one core, polling and by push, at a fixed rate; memory of a viewer',
  run: (options) =>
    runParts(
      { bench: 'viewers', title: 'viewers on one core: latency from the planned moment' },
      {
        polling: () => measurePollingViewers(options),
        memory: () => measureViewerMemory(options),
        push: () => measureEventStreams(options),
      },
    ),
};

async function measurePollingViewers({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  const fourbeat = await startFourbeat();
  const tokens = new ViewerTokens(fourbeat);
  const steps: PollingStep[] = [];
  const measureStep = async (size: number) => {
    progress.show(`viewers: ${size} poll`);
    const step = await pollingStep(fourbeat, await tokens.of(size), Math.max(seconds, SECONDS_MIN));
    steps.push(step);
    return step;
  };
  /** Two successes of three; the third attempt runs only when it decides. */
  const succeeds = async (size: number) => {
    const [first, second] = [isGood(await measureStep(size)), isGood(await measureStep(size))];
    return first === second ? first : isGood(await measureStep(size));
  };
  const found: number[] = [];
  try {
    for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
      const [before] = found;
      found.push(
        await findLargest(
          {
            min: before ? Math.max(0, before - SEARCH_RADIUS) : 0,
            max: before ? Math.min(VIEWERS_MAX, before + SEARCH_RADIUS) : VIEWERS_MAX,
            step: STEP,
          },
          succeeds,
        ),
      );
    }
  } finally {
    await fourbeat.stop();
  }
  return {
    rows: rowsOf(steps),
    targets: [{ name: 'viewers, polling', value: spreadOf(found), ...POLLING }],
    notes: notesOf(steps, found),
  };
}

const isGood = ({ failures, p99Ms }: PollingStep) => failures.length === 0 && p99Ms < P99_MAX_MS;

function rowsOf(steps: readonly PollingStep[]): Row[] {
  const bySize = Map.groupBy(
    steps.toSorted((a, b) => a.viewers - b.viewers),
    (step) => step.viewers,
  );
  return [...bySize].map(([size, same]) => {
    const figure = (of: (step: PollingStep) => number) => spreadOf(same.map(of));
    return {
      name: `${size.toLocaleString('en')} poll`,
      figures: {
        'tries that held': spreadOf([same.filter(isGood).length / same.length]),
        'p99 ms': figure((step) => step.p99Ms),
        'p50 ms': figure((step) => step.p50Ms),
        'requests or messages/s': figure((step) => step.requestsPerS),
        'CPU µs of each': figure((step) => step.cpuUs),
        'server core %': figure((step) => step.serverCpuCores * 100),
        'load core %': figure((step) => step.loadCpuCores * 100),
        'errors or wrong counts': figure((step) => step.failures.length),
      },
    };
  });
}

function notesOf(steps: readonly PollingStep[], found: readonly number[]): string[] {
  const largest = Math.max(...found);
  const failed = steps.filter((step) => !isGood(step));
  const next = failed.filter(
    ({ viewers: size }) => size > largest && size <= largest + SEARCH_RADIUS,
  );
  const shared = CONNECTIONS_MAX.toLocaleString('en');
  return [
    'Each polling viewer sends a heartbeat and reads four sealed intervals a second, at fixed times of its own, ' +
      'even when responses are late. In a step that succeeded, the view count of every second included all ' +
      `viewers. The maximum is found by bisection; a size succeeds when two attempts of three do. Later rounds ` +
      `search within ${SEARCH_RADIUS} of the first result. ${steps.length} steps in ${found.length} rounds, ${failed.length} of which failed.`,
    `Up to ${shared} viewers have a connection each, because a process may have 20,000 open files here. More viewers share ` +
      'connections, as behind a proxy, where a request waits for the previous response.',
    ...(largest === VIEWERS_MAX
      ? [`More than ${VIEWERS_MAX.toLocaleString('en')} viewers were not tried.`]
      : []),
    ...(next.some(({ isLoadGeneratorLimit }) => isLoadGeneratorLimit)
      ? [
          'LIMITED BY THE LOAD: with more viewers the core of the load was saturated or late, and the core of ' +
            'the server was not. The server serves at least the reported number.',
        ]
      : []),
    ...[...new Set(failed.flatMap(({ failures }) => failures.slice(0, 2)))]
      .slice(0, 3)
      .map((failure) => `With more viewers: ${failure}`),
  ];
}
