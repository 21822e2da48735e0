import { INTERVAL_MS } from '../../protocol/interval.ts';
import { TOKEN_LIFETIME_S } from '../../protocol/limits.ts';

/** Measured unit costs. `…PerS` is per second, `…PerH` per hour; CPU is in µs or ms. */
export interface Costs {
  /** CPU of a node for a heartbeat or a read on an open connection, µs. */
  readonly requestUs: number;
  /** CPU of a node for an interval that is pushed to a viewer, µs. */
  readonly messageUs: number;
  /** CPU for an answer, including the database, µs. */
  readonly answerUs: number;
  readonly tokenUs: number;
  /** Answer rows that a core of PostgreSQL commits per second. */
  readonly answerRowsPerCoreSecond: number;
  /** CPU of PostgreSQL without answers, ms per second, for all nodes together. */
  readonly postgresMsPerS: number;
  /** Commands of a node to Redis per second. */
  readonly redisCommandsPerS: number;
  /** CPU of Redis per bitset, and per byte of it, µs. */
  readonly bitsetUs: number;
  readonly bitsetByteUs: number;
  /** Memory of a node for a viewer who sends heartbeats and polls, and for an event stream, bytes. */
  readonly pollingBytes: number;
  readonly streamBytes: number;
  /** Bytes on the wire: response to a heartbeat, interval with its head, message of an event stream. */
  readonly heartbeatBytes: number;
  readonly readBytes: number;
  readonly messageBytes: number;
}

/** How viewers receive the feed: by polling, by event streams, or from the caches of a CDN. */
export type Delivery = 'polling' | 'push' | 'cdn';

interface Show {
  readonly viewers: number;
  readonly delivery: Delivery;
  /** The share of viewers who answer a quiz. */
  readonly answeringShare: number;
  /** The time in which these viewers answer, s. */
  readonly quizS: number;
}

export interface Need {
  /** Cores of nodes at a usage of `TARGET_UTILIZATION`. */
  readonly cores: number;
  readonly nodes: number;
  /** Memory for viewers, for all nodes together. */
  readonly memoryGB: number;
  /** Requests to nodes per second. */
  readonly originRequestsPerS: number;
  /** Commands to Redis per second; 0 with one node, which needs no Redis. */
  readonly redisCommandsPerS: number;
  readonly redisCores: number;
  /** Traffic to Redis, MB per second. */
  readonly redisMBPerS: number;
  /** Answers per second while a quiz is open. */
  readonly answersPerS: number;
  /** Cores of PostgreSQL while a quiz is open; 0 with one node, which needs no PostgreSQL. */
  readonly postgresCores: number;
  /** Requests to caches, millions per hour. */
  readonly cdnMillionsPerH: number;
  /** Traffic to viewers from nodes and caches, GB per hour, without video. */
  readonly sentByNodesGBPerH: number;
  readonly sentByCdnGBPerH: number;
}

/** Planned usage of a core, which leaves room for bursts. */
export const TARGET_UTILIZATION = 0.6;
/** Cores of a node: worker threads of one process, which the model assumes to scale linearly. */
export const NODE_CORES = 8;

const INTERVALS_PER_S = 1_000 / INTERVAL_MS;
// The SDK renews a token after 90 % of its lifetime.
const TOKENS_PER_S = 1 / (0.9 * TOKEN_LIFETIME_S);
const SECONDS_PER_HOUR = 3_600;
const BITS_PER_BYTE = 8;

/** The needs of a show: sums and products of the unit costs. */
export function needOf(show: Show, costs: Costs): Need {
  const { viewers, delivery, answeringShare, quizS } = show;
  const answersPerS = (viewers * answeringShare) / quizS;
  const cores = nodesUsPerS(show, answersPerS, costs) / 1e6 / TARGET_UTILIZATION;
  const nodes = Math.max(1, Math.ceil(cores / NODE_CORES));
  const isSingleNode = nodes === 1;
  const bytesPerS = bytesSentPerS(delivery, costs);
  return {
    cores,
    nodes,
    memoryGB:
      (viewers * (costs.pollingBytes + (delivery === 'push' ? costs.streamBytes : 0))) / 1e9,
    originRequestsPerS:
      viewers * (1 + TOKENS_PER_S + (delivery === 'polling' ? INTERVALS_PER_S : 0)) + answersPerS,
    redisCommandsPerS: isSingleNode ? 0 : nodes * costs.redisCommandsPerS,
    redisCores: isSingleNode ? 0 : redisUsPerS(viewers, nodes, costs) / 1e6,
    redisMBPerS: isSingleNode ? 0 : (nodes * INTERVALS_PER_S * (viewers / BITS_PER_BYTE)) / 1e6,
    answersPerS,
    postgresCores: isSingleNode
      ? 0
      : answersPerS / costs.answerRowsPerCoreSecond + costs.postgresMsPerS / 1_000,
    cdnMillionsPerH: delivery === 'cdn' ? (viewers * INTERVALS_PER_S * SECONDS_PER_HOUR) / 1e6 : 0,
    sentByNodesGBPerH: (viewers * bytesPerS.byNodes * SECONDS_PER_HOUR) / 1e9,
    sentByCdnGBPerH: (viewers * bytesPerS.byCdn * SECONDS_PER_HOUR) / 1e9,
  };
}

function nodesUsPerS({ viewers, delivery }: Show, answersPerS: number, costs: Costs): number {
  const { requestUs, messageUs, tokenUs, answerUs } = costs;
  // Each location of a CDN requests an interval once, for any number of viewers.
  const feedUs = { polling: requestUs, push: messageUs, cdn: 0 }[delivery];
  const viewerUs = requestUs + INTERVALS_PER_S * feedUs + TOKENS_PER_S * tokenUs;
  return viewers * viewerUs + answersPerS * answerUs;
}

/** Bytes per second to one viewer. */
function bytesSentPerS(delivery: Delivery, { heartbeatBytes, readBytes, messageBytes }: Costs) {
  const feed = INTERVALS_PER_S * (delivery === 'push' ? messageBytes : readBytes);
  return delivery === 'cdn'
    ? { byNodes: heartbeatBytes, byCdn: feed }
    : { byNodes: heartbeatBytes + feed, byCdn: 0 };
}

/** CPU of Redis for bitsets, µs per second: each node sends one per interval, with a bit for each seat. */
function redisUsPerS(viewers: number, nodes: number, { bitsetUs, bitsetByteUs }: Costs): number {
  return nodes * INTERVALS_PER_S * (bitsetUs + (viewers / BITS_PER_BYTE) * bitsetByteUs);
}
