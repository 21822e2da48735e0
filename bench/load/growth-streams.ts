import type { BenchOptions } from '../run/bench.ts';
import { type Fourbeat, startFourbeat } from '../run/fourbeat.ts';
import type { Part } from '../run/parts.ts';
import { exponentOf, spreadOf } from '../run/statistics.ts';
import { idleCpu } from './idle-cpu.ts';

const SIZES = [1, 10, 100, 1_000, 10_000];
const ROUNDS_MAX = 3;
/** What an idle server does is little: it is looked at for longer. */
const LEAST_SECONDS = 8;
const CREATED_AT_ONCE = 32;
const KB = 1024;

interface Sample {
  readonly streams: number;
  readonly cpuShare: number;
  readonly memoryBytes: number;
}

/** What streams cost that are on air while nobody watches and nothing happens. */
export async function streamsGrowth({ rounds, seconds, progress }: BenchOptions): Promise<Part> {
  const all: Sample[][] = [];
  for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
    const fourbeat = await startFourbeat();
    const samples: Sample[] = [];
    try {
      for (const streams of SIZES) {
        progress.say(`growth: round ${round}, ${streams} streams`);
        // The server begins with one.
        await addStreams(fourbeat, streams - (samples.at(-1)?.streams ?? 1));
        const cpuShare = await idleCpu(fourbeat.server, Math.max(seconds, LEAST_SECONDS));
        samples.push({ streams, cpuShare, memoryBytes: fourbeat.server.usage().memoryBytes });
      }
    } finally {
      await fourbeat.stop();
    }
    all.push(samples);
  }
  const [few = 0, many = 0] = [SIZES[0], SIZES.at(-1)];
  const memoryExponent = spreadOf(
    all.map((samples) =>
      exponentOf(samples.map(({ streams, memoryBytes }) => ({ size: streams, cost: memoryBytes }))),
    ),
  );
  const memory = all.map((samples) => {
    const [first, last] = [samples[0], samples.at(-1)] as [Sample, Sample];
    return (last.memoryBytes - first.memoryBytes) / (many - few);
  });
  return {
    rows: SIZES.map((streams, at) => {
      const figure = (of: (sample: Sample) => number) =>
        spreadOf(all.map((samples) => of(samples[at] as Sample)));
      return {
        name: streams === 1 ? '1 idle stream' : `${streams.toLocaleString('en')} idle streams`,
        figures: {
          'CPU ms/s': figure((sample) => sample.cpuShare * 1_000),
          'CPU µs/s of each': figure((sample) => (sample.cpuShare * 1e6) / streams),
          'memory MB': figure((sample) => sample.memoryBytes / 2 ** 20),
        },
      };
    }),
    targets: [
      {
        name: 'exponent of CPU over idle streams',
        value: spreadOf(
          all.map((samples) =>
            exponentOf(samples.map(({ streams, cpuShare }) => ({ size: streams, cost: cpuShare }))),
          ),
        ),
        atMost: 0.1,
        aim: 0,
      },
    ],
    notes: [
      `${all.length} rounds. Idle streams are on air, and nobody watches. An idle stream takes ` +
        `${(spreadOf(memory).median / KB).toFixed(1)} KB of the server's memory, between ` +
        `${few} and ${many} of them; what was needed to make them is in it. Exponent of memory over idle streams: ` +
        `${memoryExponent.median.toFixed(2)}.`,
    ],
  };
}

async function addStreams({ studio }: Fourbeat, count: number): Promise<void> {
  let left = count;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      const { id } = await studio<{ id: string }>('POST', '/streams', { title: 'Idle' });
      await studio('POST', `/streams/${id}/start`);
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, one));
}
