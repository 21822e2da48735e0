import { nodesGrowth } from './load/growth-nodes.ts';
import { streamsGrowth } from './load/growth-streams.ts';
import { viewersGrowth } from './load/growth-viewers.ts';
import type { Bench, BenchOptions } from './run/bench.ts';
import type { Result } from './run/result.ts';

/** What each further viewer, stream and node costs. */
export const growth: Bench = {
  name: 'growth',
  about: 'CPU and memory as viewers, idle streams and nodes become more, with the exponent of each',
  needs: ['redis-server', 'postgresql'],
  run: async (options) => {
    const parts: Part[] = [];
    for (const part of PARTS) parts.push(await part(options));
    return {
      bench: 'growth',
      title: 'what viewers, streams and nodes cost as they become more',
      rows: parts.flatMap(({ rows }) => rows),
      targets: parts.flatMap(({ targets }) => targets),
      notes: parts.flatMap(({ notes }) => notes),
    };
  },
};

type Part = Pick<Result, 'rows' | 'targets' | 'notes'>;

const PARTS: readonly ((options: BenchOptions) => Promise<Part>)[] = [
  viewersGrowth,
  streamsGrowth,
  nodesGrowth,
];
