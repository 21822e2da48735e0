import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, IncorrectResponse } from '../run/bench.ts';
import { type Fourbeat, startFourbeat } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import { spreadOf } from '../run/statistics.ts';
import { pollingStep } from './polling-step.ts';
import { REQUESTS_PER_PERIOD } from './schedule.ts';

/** Viewers at first, and viewers added. With only 6,000 added, the results of rounds differed by a third. */
const BASE_VIEWERS = 1_000;
const ADDED_VIEWERS = 16_000;
/** The request rate is the same for every number of viewers, so that memory does not depend on it. */
const REQUESTS_PER_S = 3_000;
const SECONDS = 6;
const ROUNDS_MAX = 3;
const KB = 1024;
/** In the first repetitions code is compiled and the heap finds its size. */
const WARM_UP_REPETITIONS = 1;
const REPETITIONS = 3;
/** Open files of the server before a repetition: the connections of the previous one are closed. */
const FILES_AT_START_MAX = 500;
const SAMPLE_EVERY_MS = 250;
const SAMPLES_MIN = 8;
const CONNECTED_MIN = 0.98;
const FREQUENT_GC = fileURLToPath(new URL('../../test/support/frequent-gc.ts', import.meta.url));

interface Sample {
  readonly bytesPerViewer: number;
  /** What a viewer without a connection takes: token and seat. */
  readonly bytesPerToken: number;
}

/** Measures the resident memory that each polling viewer adds to the server. */
export async function measureViewerMemory({
  rounds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  const samples: Sample[] = [];
  for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
    progress.show(`viewers: memory, round ${round}`);
    samples.push(await takeSample());
  }
  const figure = (of: (sample: Sample) => number) => spreadOf(samples.map(of));
  return {
    rows: [
      {
        name: 'memory of a viewer who polls',
        figures: {
          'bytes a viewer': figure(({ bytesPerViewer }) => bytesPerViewer),
          'of it connection': figure(
            ({ bytesPerViewer, bytesPerToken }) => bytesPerViewer - bytesPerToken,
          ),
          'of it token': figure(({ bytesPerToken }) => bytesPerToken),
        },
      },
    ],
    targets: [
      {
        name: 'KB of memory for each viewer who polls',
        value: figure(({ bytesPerViewer }) => bytesPerViewer / KB),
        atMost: 1,
        aim: 0.5,
      },
    ],
    notes: [
      `Memory of a viewer is the difference between ${(BASE_VIEWERS + ADDED_VIEWERS).toLocaleString('en')} and ${BASE_VIEWERS.toLocaleString('en')} polling viewers, ` +
        'each with its own token, seat and keep-alive connection, divided by the number of viewers added: resident memory of the server ' +
        'after garbage collection, when it no longer changes. It includes everything that the server stores for a viewer: ' +
        'connection, token, seat. Memory of a token is what as many more viewers without a connection take; the rest ' +
        'is the connection. Memory of the kernel for a socket is not included.',
    ],
  };
}

async function takeSample(): Promise<Sample> {
  const fourbeat = await startFourbeat([], undefined, { BUN_OPTIONS: `--preload ${FREQUENT_GC}` });
  try {
    const some = await fourbeat.tokens(BASE_VIEWERS);
    const baseBytes = await settledBytes(fourbeat, some);
    const all = [...some, ...(await fourbeat.tokens(ADDED_VIEWERS, BASE_VIEWERS))];
    const allBytes = await settledBytes(fourbeat, all);
    await fourbeat.tokens(ADDED_VIEWERS, BASE_VIEWERS + ADDED_VIEWERS);
    const withTokensBytes = await settledBytes(fourbeat, all);
    return {
      bytesPerViewer: (allBytes - baseBytes) / ADDED_VIEWERS,
      bytesPerToken: (withTokensBytes - allBytes) / ADDED_VIEWERS,
    };
  } finally {
    await fourbeat.stop();
  }
}

/** The minimal memory of the server while these viewers poll, after it has settled. */
async function settledBytes(fourbeat: Fourbeat, tokens: readonly string[]): Promise<number> {
  const { pid } = fourbeat.server;
  const periodMs = (tokens.length * REQUESTS_PER_PERIOD * 1_000) / REQUESTS_PER_S;
  let minBytes = Number.POSITIVE_INFINITY;
  for (let repetition = 1; repetition <= REPETITIONS; repetition += 1) {
    while (filesOf(pid) > FILES_AT_START_MAX) await Bun.sleep(SAMPLE_EVERY_MS);
    const sampledBytes: number[] = [];
    const sampling = setInterval(() => {
      if (filesOf(pid) >= tokens.length * CONNECTED_MIN)
        sampledBytes.push(fourbeat.server.usage().memoryBytes);
    }, SAMPLE_EVERY_MS);
    // Late responses of a busy machine do not matter here, as long as all viewers are connected.
    const { failures } = await pollingStep(fourbeat, tokens, SECONDS, { periodMs });
    clearInterval(sampling);
    if (sampledBytes.length < SAMPLES_MIN) throw new IncorrectResponse(failures.join('; '));
    // In the first half not all viewers have sent requests; the minimum excludes garbage.
    if (repetition > WARM_UP_REPETITIONS)
      minBytes = Math.min(minBytes, ...sampledBytes.slice(sampledBytes.length / 2));
  }
  return minBytes;
}

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
