import { largestThatHolds } from './load/largest.ts';
import { CONNECTIONS_MAX, type PollingStep, pollingStep } from './load/polling-step.ts';
import { pushedViewers } from './load/pushed-viewers.ts';
import { viewerMemory } from './load/viewer-memory.ts';
import { ViewerTokens } from './load/viewer-tokens.ts';
import type { Bench, BenchOptions } from './run/bench.ts';
import { startFourbeat } from './run/fourbeat.ts';
import { inParts, type Part } from './run/parts.ts';
import type { Row } from './run/result.ts';
import { spreadOf } from './run/statistics.ts';

const MOST = 30_000;
const GRAIN = 500;
/** How far a further round looks around what the first one found. */
const AROUND = 1_000;
const P99_MAX_MS = 50;
const LEAST_SECONDS = 6;
const ROUNDS_MAX = 3;
const POLLING = { atLeast: 15_000, aim: 20_000 };

/** How many viewers one core carries, polling and by push, and what memory a viewer takes. */
export const viewers: Bench = {
  name: 'viewers',
  about: 'the most viewers on one core, polling and by push, at a fixed rate; memory of a viewer',
  run: (options) =>
    inParts(
      { bench: 'viewers', title: 'viewers on one core: latency from the moment that was meant' },
      {
        polling: () => pollingViewers(options),
        memory: () => viewerMemory(options),
        push: () => pushedViewers(options),
      },
    ),
};

async function pollingViewers({ rounds, seconds, progress }: BenchOptions): Promise<Part> {
  const fourbeat = await startFourbeat();
  const tokens = new ViewerTokens(fourbeat);
  const steps: PollingStep[] = [];
  const stepOf = async (size: number) => {
    progress.say(`viewers: ${size} poll`);
    const step = await pollingStep(
      fourbeat,
      await tokens.of(size),
      Math.max(seconds, LEAST_SECONDS),
    );
    steps.push(step);
    return step;
  };
  /** Two tries of three; the third is made when it decides. */
  const holds = async (size: number) => {
    const [first, second] = [isGood(await stepOf(size)), isGood(await stepOf(size))];
    return first === second ? first : isGood(await stepOf(size));
  };
  const found: number[] = [];
  try {
    for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
      const [before] = found;
      found.push(
        await largestThatHolds(
          {
            least: before ? Math.max(0, before - AROUND) : 0,
            most: before ? Math.min(MOST, before + AROUND) : MOST,
            grain: GRAIN,
          },
          holds,
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

const isGood = ({ troubles, p99Ms }: PollingStep) => troubles.length === 0 && p99Ms < P99_MAX_MS;

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
        'server core %': figure((step) => step.cpuShare * 100),
        'load core %': figure((step) => step.loadShare * 100),
        'errors or wrong counts': figure((step) => step.troubles.length),
      },
    };
  });
}

function notesOf(steps: readonly PollingStep[], found: readonly number[]): string[] {
  const most = Math.max(...found);
  const bad = steps.filter((step) => !isGood(step));
  const next = bad.filter(({ viewers: size }) => size > most && size <= most + AROUND);
  const shared = CONNECTIONS_MAX.toLocaleString('en');
  return [
    'Each viewer who polls sends a heartbeat and reads four sealed intervals a second, at moments of its own, ' +
      'whether answers are late or not. The count that intervals told was all of them in each second ' +
      `of a good step. The most is found by bisection, and holds when two tries of three do; rounds after the ` +
      `first look within ${AROUND} of what it found. ${steps.length} steps in ${found.length} rounds, ${bad.length} of which failed.`,
    `Up to ${shared} viewers have a connection each: a process may have 20,000 open files here. More of them share ` +
      'connections, as behind a proxy, where a request waits for the answer to the one before.',
    ...(most === MOST ? [`${MOST.toLocaleString('en')} is the most that was tried.`] : []),
    ...(next.some(({ isLoadLimit }) => isLoadLimit)
      ? [
          'LIMITED BY THE LOAD: the core that sends was full, or late by itself, where more viewers ' +
            'failed and the core of the server was not full. The server carries at least what is told.',
        ]
      : []),
    ...[...new Set(bad.flatMap(({ troubles }) => troubles.slice(0, 2)))]
      .slice(0, 3)
      .map((trouble) => `Beyond what holds: ${trouble}`),
  ];
}
