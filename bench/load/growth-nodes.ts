import { startPostgres } from '../../test/support/backends/postgres.ts';
import { startRedis } from '../../test/support/backends/redis.ts';
import { readWork } from '../redis-meter.ts';
import { type BenchOptions, IncorrectResponse } from '../run/bench.ts';
import { startFourbeat, startNode } from '../run/fourbeat.ts';
import type { PartialResult } from '../run/parts.ts';
import { type Pinned, usageOfFamily } from '../run/pinned.ts';
import type { Row } from '../run/result.ts';
import { exponentOf, spreadOf } from '../run/statistics.ts';
import { pollingStep } from './polling-step.ts';

const NODES = [1, 2, 4];
/** A small number, since all nodes share one core. */
const VIEWERS_PER_NODE = 2_000;
const ROUNDS_MAX = 2;

/**
 * One measurement. `…MsPerS` is CPU time, in ms per second: that of the servers in the measured time, that of
 * Redis and PostgreSQL over the whole step, which includes the start of the load and its warm-up.
 */
interface Sample {
  readonly nodes: number;
  readonly redisCommandsPerS: number;
  readonly redisMsPerS: number;
  readonly postgresMsPerS: number;
  readonly serversMsPerS: number;
  /** Empty when every response was correct and every viewer was counted. */
  readonly failures: readonly string[];
}

/** Measures 1, 2 and 4 nodes with the same Redis and PostgreSQL and the same number of viewers each. */
export async function nodesGrowth({
  rounds,
  seconds,
  progress,
}: BenchOptions): Promise<PartialResult> {
  const all: Sample[][] = [];
  const failureNotes = new Set<string>();
  for (let round = 1; round <= Math.min(rounds, ROUNDS_MAX); round += 1) {
    const samples: Sample[] = [];
    for (const nodes of NODES) {
      progress.show(`growth: round ${round}, ${nodes} nodes`);
      const sample = await sampleWithRetry(nodes, seconds);
      if (sample.failures.length === 0) samples.push(sample);
      else failureNotes.add(`With ${nodes} nodes: ${sample.failures[0]}.`);
    }
    all.push(samples);
  }
  const fitted = all.filter(({ length }) => length > 1);
  if (fitted.length === 0) throw new IncorrectResponse([...failureNotes].join(' '));
  const exponent = (of: (sample: Sample) => number) =>
    spreadOf(fitted.map((samples) => exponentOf(samples, ({ nodes }) => nodes, of))).median.toFixed(
      2,
    );
  return {
    rows: NODES.flatMap((nodes) => rowsOf(nodes, all.flat())),
    targets: [],
    notes: [
      `${all.length} rounds. Each node has ${VIEWERS_PER_NODE} polling viewers of one stream; CPU is the mean of the nodes. ` +
        `Exponents over nodes: CPU of all nodes together ${exponent(({ serversMsPerS }) => serversMsPerS)}, ` +
        `of Redis ${exponent(({ redisMsPerS }) => redisMsPerS)}, of PostgreSQL ${exponent(({ postgresMsPerS }) => postgresMsPerS)}.`,
      ...failureNotes,
    ],
  };
}

function rowsOf(nodes: number, all: readonly Sample[]): Row[] {
  const same = all.filter((sample) => sample.nodes === nodes);
  if (same.length === 0) return [];
  const figure = (of: (sample: Sample) => number) => spreadOf(same.map(of));
  const perViewer = (of: (sample: Sample) => number) =>
    figure((sample) => (of(sample) * 1_000) / (nodes * VIEWERS_PER_NODE));
  return [
    {
      name: `${nodes} node${nodes > 1 ? 's' : ''}, ${(nodes * VIEWERS_PER_NODE).toLocaleString('en')} viewers`,
      figures: {
        'CPU ms/s': figure(({ serversMsPerS }) => serversMsPerS / nodes),
        'CPU µs/s of each': perViewer(({ serversMsPerS }) => serversMsPerS),
        'Redis CPU ms/s': figure(({ redisMsPerS }) => redisMsPerS),
        'Redis µs/s of each': perViewer(({ redisMsPerS }) => redisMsPerS),
        'Redis commands/s of a node': figure(({ redisCommandsPerS }) => redisCommandsPerS / nodes),
        'PostgreSQL CPU ms/s': figure(({ postgresMsPerS }) => postgresMsPerS),
      },
    },
  ];
}

/** Repeats a failed sample once: a sample that then succeeds was disturbed. */
async function sampleWithRetry(nodes: number, seconds: number): Promise<Sample> {
  const first = await takeSample(nodes, seconds);
  return first.failures.length === 0 ? first : takeSample(nodes, seconds);
}

async function takeSample(nodes: number, seconds: number): Promise<Sample> {
  const redis = await startRedis({ persistence: false });
  const postgres = await startPostgres();
  const stops = [() => postgres.stop(), () => redis.stop()];
  try {
    const settings = [
      ...['--database', await postgres.createDatabase('fourbeat')],
      ...['--redis', redis.url],
      ...['--public-url', 'https://live.example.org'],
    ];
    const first = await startFourbeat(settings);
    stops.unshift(first.stop);
    const others: { url: string; server: Pinned }[] = [];
    while (others.length < nodes - 1) {
      const node = await startNode(settings);
      stops.unshift(node.server.stop);
      others.push(node);
    }
    const { streamId } = first;
    const tokens = await first.tokens(nodes * VIEWERS_PER_NODE);
    const before = await readWork(redis);
    const startS = usageOfFamily(postgres.pid).cpuS;
    const startMs = performance.now();
    const steps = await Promise.all(
      [first, ...others].map(({ url, server }, node) =>
        pollingStep(
          { url, server, streamId },
          tokens.slice(node * VIEWERS_PER_NODE, (node + 1) * VIEWERS_PER_NODE),
          seconds,
          { expectedCount: tokens.length },
        ),
      ),
    );
    const tookS = (performance.now() - startMs) / 1_000;
    const work = await readWork(redis);
    return {
      nodes,
      redisCommandsPerS: (work.commands - before.commands) / tookS,
      redisMsPerS: (work.cpuMs - before.cpuMs) / tookS,
      postgresMsPerS: ((usageOfFamily(postgres.pid).cpuS - startS) * 1_000) / tookS,
      serversMsPerS: steps.reduce((sum, { serverCpuCores }) => sum + serverCpuCores * 1_000, 0),
      failures: steps.flatMap(({ failures }) => failures),
    };
  } finally {
    for (const stop of stops) await stop();
  }
}
