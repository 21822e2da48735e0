import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type BenchOptions, IncorrectResponse } from '../run/bench.ts';
import { type Fourbeat, startFourbeat } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import { spreadOf } from '../run/statistics.ts';
import { pollingStep } from './polling-step.ts';
import { REQUESTS_PER_ROUND } from './schedule.ts';

/** The first number of viewers, and how many are added; with 6,000 each, rounds differed by a third. */
const FEW = 1_000;
const MORE = 16_000;
/** The request rate is the same for every number of viewers, so that memory does not depend on it. */
const REQUESTS_PER_S = 3_000;
const SECONDS = 6;
const ROUNDS_MAX = 3;
const KB = 1024;
/** In the first rounds code is compiled and the heap finds its size. */
const TURNS_BEFORE = 1;
const TURNS = 3;
/** Connections that a process may have at once. */
const FILES_MAX = 500;
const LOOK_EVERY_MS = 250;
const SEEN_MIN = 8;
const CONNECTED_MIN = 0.98;
const FREQUENT_GC = fileURLToPath(new URL('frequent-gc.ts', import.meta.url));

interface Sample {
  readonly all: number;
  readonly token: number;
}

/** Measures the resident memory that each polling viewer adds to the server. */
export async function viewerMemory({ rounds, progress }: BenchOptions): Promise<PartialResult> {
  const samples: Sample[] = [];
  for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
    progress.show(`viewers: memory, round ${round}`);
    samples.push(await sampled());
  }
  const figure = (of: (sample: Sample) => number) => spreadOf(samples.map(of));
  return {
    rows: [
      {
        name: 'memory of a viewer who polls',
        figures: {
          'bytes a viewer': figure(({ all }) => all),
          'of it connection': figure(({ all, token }) => all - token),
          'of it token': figure(({ token }) => token),
        },
      },
    ],
    targets: [
      {
        name: 'KB of memory for each viewer who polls',
        value: figure(({ all }) => all / KB),
        atMost: 1,
        aim: 0.5,
      },
    ],
    notes: [
      `Memory of a viewer is the difference between ${(FEW + MORE).toLocaleString('en')} and ${FEW.toLocaleString('en')} polling viewers, ` +
        'each with its own token, seat and keep-alive connection, divided by their number: resident memory of the server ' +
        'after garbage collection, when it no longer changes. It includes everything that the server stores for a viewer: ' +
        'connection, token, seat. Memory of a token is what as many more viewers without a connection take; the rest ' +
        'is the connection. Memory of the kernel for a socket is not included.',
    ],
  };
}

async function sampled(): Promise<Sample> {
  const fourbeat = await startFourbeat([], undefined, { BUN_OPTIONS: `--preload ${FREQUENT_GC}` });
  try {
    const some = await fourbeat.tokens(FEW);
    const few = await settled(fourbeat, some);
    const all = [...some, ...(await fourbeat.tokens(MORE, FEW))];
    const many = await settled(fourbeat, all);
    await fourbeat.tokens(MORE, FEW + MORE);
    const more = await settled(fourbeat, all);
    return { all: (many - few) / MORE, token: (more - many) / MORE };
  } finally {
    await fourbeat.stop();
  }
}

/** The minimal memory of the server while these viewers poll, after it has settled. */
async function settled(fourbeat: Fourbeat, tokens: readonly string[]): Promise<number> {
  const { pid } = fourbeat.server;
  const roundMs = (tokens.length * REQUESTS_PER_ROUND * 1_000) / REQUESTS_PER_S;
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 1; turn <= TURNS; turn += 1) {
    while (filesOf(pid) > FILES_MAX) await Bun.sleep(LOOK_EVERY_MS);
    const seen: number[] = [];
    const look = setInterval(() => {
      if (filesOf(pid) >= tokens.length * CONNECTED_MIN)
        seen.push(fourbeat.server.usage().memoryBytes);
    }, LOOK_EVERY_MS);
    // Late responses of a busy machine do not matter here, as long as all viewers are connected.
    const { failures } = await pollingStep(fourbeat, tokens, SECONDS, { roundMs });
    clearInterval(look);
    if (seen.length < SEEN_MIN) throw new IncorrectResponse(failures.join('; '));
    // In the first half not all viewers have sent requests; the minimum excludes garbage.
    if (turn > TURNS_BEFORE) least = Math.min(least, ...seen.slice(seen.length / 2));
  }
  return least;
}

const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
