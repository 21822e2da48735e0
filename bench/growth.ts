import { nodesGrowth } from './load/growth-nodes.ts';
import { streamsGrowth } from './load/growth-streams.ts';
import { viewersGrowth } from './load/growth-viewers.ts';
import type { Bench } from './run/bench.ts';
import { inParts } from './run/parts.ts';

/** What each further viewer, stream and node costs. */
export const growth: Bench = {
  name: 'growth',
  about: 'CPU and memory as viewers, idle streams and nodes become more, with the exponent of each',
  needs: ['redis-server', 'postgresql'],
  run: (options) =>
    inParts(
      { bench: 'growth', title: 'what viewers, streams and nodes cost as they become more' },
      {
        viewers: () => viewersGrowth(options),
        streams: () => streamsGrowth(options),
        nodes: () => nodesGrowth(options),
      },
    ),
};
