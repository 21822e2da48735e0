import type { BenchOptions } from '../run/bench.ts';
import { WrongAnswer } from '../run/bench.ts';
import { type Fourbeat, startFourbeat } from '../run/fourbeat.ts';
import type { Result } from '../run/result.ts';
import { spreadOf } from '../run/statistics.ts';
import { pollingStep } from './polling-step.ts';
import { REQUESTS_A_ROUND } from './schedule.ts';

const FEW = 2_000;
const MANY = 18_000;
/**
 * All send as many requests a second, however many they are, and so make as much garbage: memory
 * does not depend on how often somebody polls.
 */
const ROUND_MS = 4_000;
const SECONDS = 4;
const ROUNDS_MAX = 3;
const ANSWERED_MIN = 0.8;
const KB = 1024;
/** Tokens of viewers who are not there: of many the garbage of issuing them is a small part. */
const MORE_TOKENS = 60_000;
/** It has settled when it changes by less from one turn to the next. */
const SETTLED_BYTES = 2 ** 20;
const TURNS_MAX = 5;
/** Code is compiled and the heap finds its size in the first of them. */
const TURNS_MIN = 3;
/** Eight bits of the ring for each seat. */
const RING_BYTES = 1;

interface Sample {
  readonly all: number;
  readonly connection: number;
  readonly token: number;
}

/** How much the server grows by with each viewer who polls, as bytes of resident memory. */
export async function viewerMemory({
  rounds,
  progress,
}: BenchOptions): Promise<Pick<Result, 'rows' | 'targets' | 'notes'>> {
  const samples: Sample[] = [];
  for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
    progress.say(`viewers: memory, round ${round}`);
    samples.push(await sampled());
  }
  const figure = (of: (sample: Sample) => number) => spreadOf(samples.map(of));
  return {
    rows: [
      {
        name: 'memory of a viewer who polls',
        figures: {
          'bytes a viewer': figure(({ all }) => all),
          'of it connection': figure(({ connection }) => connection),
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
      `Memory of a viewer is that of a connection, the slope of what is resident between ${FEW} and ` +
        `${MANY} of them that send as many requests together; that of a token that was issued or ` +
        `checked, by ${MORE_TOKENS.toLocaleString('en')} more of them; and ${RING_BYTES} bytes of the ring. Each is ` +
        'read when it has settled.',
    ],
  };
}

async function sampled(): Promise<Sample> {
  const fourbeat = await startFourbeat();
  try {
    const few = await fourbeat.tokens(FEW);
    const first = await settled(fourbeat, few, FEW);
    const connected = await settled(fourbeat, few, MANY);
    await fourbeat.tokens(MORE_TOKENS, FEW);
    const last = await settled(fourbeat, few, MANY);
    const connection = (connected - first) / (MANY - FEW);
    const token = (last - connected) / MORE_TOKENS;
    return { all: connection + token + RING_BYTES, connection, token };
  } finally {
    await fourbeat.stop();
  }
}

/** What the server holds while so many connections poll, when it holds no more from turn to turn. */
async function settled(
  fourbeat: Fourbeat,
  few: readonly string[],
  connectionsMax: number,
): Promise<number> {
  const tokens = Array.from({ length: MANY }, (_, at) => few[at % FEW] as string);
  const expected = (MANY * REQUESTS_A_ROUND * 1_000) / ROUND_MS;
  let [before, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 1; turn <= TURNS_MAX; turn += 1) {
    const options = { connectionsMax, roundMs: ROUND_MS };
    const { memoryBytes, requestsPerS, troubles } = await pollingStep(
      fourbeat,
      tokens,
      SECONDS,
      options,
    );
    // On a machine that is too busy some come later; all who are closed or refused would not come.
    if (requestsPerS < expected * ANSWERED_MIN) throw new WrongAnswer(troubles.join('; '));
    if (turn >= TURNS_MIN) least = Math.min(least, memoryBytes);
    if (turn >= TURNS_MIN && Math.abs(memoryBytes - before) < SETTLED_BYTES) break;
    before = memoryBytes;
  }
  return least;
}
