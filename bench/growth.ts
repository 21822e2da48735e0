import { nodesGrowth } from './load/growth-nodes.ts';
import { streamsGrowth } from './load/growth-streams.ts';
import { viewersGrowth } from './load/growth-viewers.ts';
import type { Bench } from './run/bench.ts';
import { runParts } from './run/parts.ts';

/** The cost of each additional viewer, stream and node. */
export const growth: Bench = {
  name: 'growth',
  description:
    'CPU and memory with more viewers, idle streams and nodes, with the exponent of each',
  requires: ['redis-server', 'postgresql'],
  run: (options) =>
    runParts(
      { bench: 'growth', title: 'the cost of more viewers, streams and nodes' },
      {
        viewers: () => viewersGrowth(options),
        streams: () => streamsGrowth(options),
        nodes: () => nodesGrowth(options),
      },
    ),
};
