import type { BenchOptions } from '../run/bench.ts';
import { type Fourbeat, inRounds } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import { exponentOf, spreadOf } from '../run/statistics.ts';
import { idleCpu } from './idle-cpu.ts';

const SIZES = [1, 10, 100, 1_000, 10_000];
const ROUNDS_MAX = 3;
/** An idle server does little, so it is observed for longer. */
const SECONDS_MIN = 8;
const CREATE_CONCURRENCY = 32;
const KB = 1024;

interface Sample {
  readonly streams: number;
  readonly serverCpuCores: number;
  readonly memoryBytes: number;
}

/** Measures the cost of streams that are on air without viewers or events. */
export async function streamsGrowth({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  const all = await inRounds(Math.min(rounds, ROUNDS_MAX), async (fourbeat, round) => {
    const samples: Sample[] = [];
    for (const streams of SIZES) {
      progress.show(`growth: round ${round}, ${streams} streams`);
      // The server starts with one stream.
      await addStreams(fourbeat, streams - (samples.at(-1)?.streams ?? 1));
      const serverCpuCores = await idleCpu(fourbeat.server, Math.max(seconds, SECONDS_MIN));
      samples.push({ streams, serverCpuCores, memoryBytes: fourbeat.server.usage().memoryBytes });
    }
    return samples;
  });
  const exponent = (cost: (sample: Sample) => number) =>
    spreadOf(all.map((samples) => exponentOf(samples, ({ streams }) => streams, cost)));
  const [few = 0, many = 0] = [SIZES[0], SIZES.at(-1)];
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
          'CPU ms/s': figure((sample) => sample.serverCpuCores * 1_000),
          'CPU µs/s of each': figure((sample) => (sample.serverCpuCores * 1e6) / streams),
          'memory MB': figure((sample) => sample.memoryBytes / 2 ** 20),
        },
      };
    }),
    targets: [
      {
        name: 'exponent of CPU over idle streams',
        value: exponent(({ serverCpuCores }) => serverCpuCores),
        atMost: 0.1,
        aim: 0,
      },
    ],
    notes: [
      `${all.length} rounds. Idle streams are on air without viewers. An idle stream takes ` +
        `${(spreadOf(memory).median / KB).toFixed(1)} KB of the server's memory, measured between ` +
        `${few} and ${many} streams; this includes what their creation needs. Exponent of memory over idle streams: ` +
        `${exponent(({ memoryBytes }) => memoryBytes).median.toFixed(2)}.`,
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
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, one));
}
