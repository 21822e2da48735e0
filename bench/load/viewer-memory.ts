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
const ROUND_MS = 8_000;
const SECONDS = 10;
const ROUNDS_MAX = 3;
const ANSWERED_MIN = 0.8;
const KB = 1024;
/** Tokens that are issued at a time, and how often each is. */
const AT_ONCE = 50;
const TIMES = 8;
/** Five bits of the ring for each seat. */
const RING_BYTES = 5 / 8;

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
          'of it token and seat': figure(({ token }) => token),
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
      `Memory is the slope of what is resident between ${FEW} and ${MANY} viewers who send as many ` +
        'requests together, after a first turn. First come connections whose tokens are known, then ' +
        `viewers with tokens of their own; of those the ring has ${RING_BYTES} bytes each, the rest is ` +
        'the memory of a token that was checked.',
    ],
  };
}

async function sampled(): Promise<Sample> {
  const fourbeat = await startFourbeat();
  try {
    const few = await fourbeat.tokens(FEW);
    const repeated = Array.from({ length: MANY }, (_, at) => few[at % FEW] as string);
    const memory = async (tokens: readonly string[], connectionsMax: number) => {
      const options = { connectionsMax, roundMs: ROUND_MS };
      const step = await pollingStep(fourbeat, tokens, SECONDS, options);
      const expected = (MANY * REQUESTS_A_ROUND * 1_000) / ROUND_MS;
      // On a machine that is too busy some come later; all who are closed or refused would not come.
      if (step.requestsPerS < expected * ANSWERED_MIN)
        throw new WrongAnswer(step.troubles.join('; '));
      return step.memoryBytes;
    };
    // To issue tokens leaves garbage for a while: as much was left before as will be after.
    await issueAgain(fourbeat);
    await memory(repeated, FEW);
    const first = await memory(repeated, FEW);
    const connected = await memory(repeated, MANY);
    const last = await memory([...few, ...(await fourbeat.tokens(MANY - FEW, FEW))], MANY);
    const each = (bytes: number) => bytes / (MANY - FEW);
    return {
      all: each(last - first),
      connection: each(connected - first),
      token: each(last - connected),
    };
  } finally {
    await fourbeat.stop();
  }
}

/** Within a second a viewer gets the same token again, so that no more of them are remembered. */
async function issueAgain({ tokens }: Pick<Fourbeat, 'tokens'>): Promise<void> {
  for (let issued = 0; issued < MANY - FEW; issued += AT_ONCE) {
    await tokens(AT_ONCE, (Math.floor(issued / AT_ONCE / TIMES) * AT_ONCE) % FEW);
  }
}
