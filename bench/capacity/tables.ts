import { formatNumber, markdownTable } from '../run/table.ts';
import { costsOf, type Source } from './costs.ts';
import {
  type Costs,
  type Delivery,
  type Need,
  NODE_CORES,
  needOf,
  TARGET_UTILIZATION,
} from './model.ts';

const VIEWERS = [10_000, 100_000, 1_000_000, 10_000_000];
const DELIVERY_TITLES: Readonly<Record<Delivery, string>> = {
  polling: 'Each viewer requests each interval',
  push: 'An event stream to each viewer',
  cdn: 'Each viewer requests each interval from a CDN (`--edge-cache`)',
};
/** Assumption: four of five viewers answer, within 10 s. */
const SHOW = { answeringShare: 0.8, quizS: 10 };

const COST_TEXTS: Readonly<Record<keyof Costs, string>> = {
  requestUs: 'a heartbeat or a read on an open connection, CPU µs',
  messageUs: 'an interval that is pushed to a viewer, CPU µs',
  answerUs: 'an answer with its commit, including PostgreSQL, CPU µs',
  tokenUs: 'a token, CPU µs',
  answerRowsPerCoreSecond: 'answers that a core of PostgreSQL commits per second',
  postgresMsPerS: 'PostgreSQL without answers, CPU ms per second',
  redisCommandsPerS: 'commands of a node to Redis per second',
  bitsetUs: 'Redis: a bitset, CPU µs',
  bitsetByteUs: 'Redis: a byte of a bitset, CPU µs',
  pollingBytes: 'memory of a viewer who polls, bytes',
  streamBytes: 'memory of an event stream, bytes',
  heartbeatBytes: 'the response to a heartbeat, bytes',
  readBytes: 'a sealed interval with chat messages, including its head, bytes',
  messageBytes: 'the same in an event stream, bytes',
};

const COLUMNS: Readonly<Record<string, (need: Need) => string>> = {
  cores: ({ cores }) => formatNumber(cores),
  nodes: ({ nodes }) => formatNumber(nodes),
  'memory, GB': ({ memoryGB }) => formatNumber(memoryGB),
  'requests/s at nodes': ({ originRequestsPerS }) => formatNumber(originRequestsPerS),
  'Redis: commands/s': ({ redisCommandsPerS }) => formatNumber(redisCommandsPerS),
  'MB/s to Redis': ({ redisMBPerS }) => formatNumber(redisMBPerS),
  'Redis cores': ({ redisCores }) => formatNumber(redisCores),
  'answers/s': ({ answersPerS }) => formatNumber(answersPerS),
  'PostgreSQL cores': ({ postgresCores }) => formatNumber(postgresCores),
  'CDN: million requests/h': ({ cdnMillionsPerH }) => formatNumber(cdnMillionsPerH),
  'GB/h': ({ sentByCdnGBPerH }) => formatNumber(sentByCdnGBPerH),
  'nodes send GB/h': ({ sentByNodesGBPerH }) => formatNumber(sentByNodesGBPerH),
  'cost of an hour': priceOf,
};

/** The needs of shows as Markdown, with the source of each figure. */
export function capacityLines(sources: readonly Source[]): string[] {
  const costs = costsOf(sources);
  return [
    `Cores of nodes, and *P* in the cost, are planned at ${TARGET_UTILIZATION * 100} % of their time; the columns of PostgreSQL and Redis are busy cores. A node has ${NODE_CORES} cores, and ${SHOW.answeringShare * 100} % of the viewers answer a quiz within ${SHOW.quizS} s. ` +
      'The model assumes that throughput is proportional to the cores of a node; that is not measured. ' +
      'One node needs neither Redis nor PostgreSQL. Video is not included.',
    '',
    'The cost of an hour has prices as variables: *N* a node for an hour, *R* a Redis, *P* a core of PostgreSQL, ' +
      '*G* a GB that nodes send, *D* a million requests to the CDN, *E* a GB that it sends.',
    ...(Object.keys(DELIVERY_TITLES) as Delivery[]).flatMap((delivery) => [
      '',
      `**${DELIVERY_TITLES[delivery]}**`,
      '',
      ...deliveryLines(delivery, costs),
    ]),
    '',
    'Redis processes a stream on one core: if the table has more than 1, use fewer and larger nodes for that stream. ' +
      'Each location of a CDN requests an interval once from the nodes, which is not in the table. A node needs an open file for each connection (`ulimit -n`).',
    '',
    '**Unit costs**',
    '',
    ...markdownTable(
      ['what', 'median', 'from'],
      sources.map(({ cost, value, from }) => [COST_TEXTS[cost], formatNumber(value), from]),
    ),
  ];
}

function deliveryLines(delivery: Delivery, costs: Costs): string[] {
  const rows = VIEWERS.map((viewers) => {
    const need = needOf({ ...SHOW, viewers, delivery }, costs);
    return [formatNumber(viewers), ...Object.values(COLUMNS).map((column) => column(need))];
  });
  return markdownTable(['viewers', ...Object.keys(COLUMNS)], rows);
}

/** The cost of an hour, such as `2 N + R`. Redis counts once; cores of PostgreSQL run at `TARGET_UTILIZATION`. */
function priceOf(need: Need): string {
  const terms: [number, string][] = [
    [need.nodes, 'N'],
    [need.redisCores > 0 ? 1 : 0, 'R'],
    [Math.ceil(need.postgresCores / TARGET_UTILIZATION), 'P'],
    [need.sentByNodesGBPerH, 'G'],
    [need.cdnMillionsPerH, 'D'],
    [need.sentByCdnGBPerH, 'E'],
  ];
  return terms
    .filter(([count]) => count > 0)
    .map(([count, price]) => (count === 1 ? price : `${formatNumber(count)} ${price}`))
    .join(' + ');
}
