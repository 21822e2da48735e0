import { INTERVAL_MS } from '../../protocol/interval.ts';
import { TOKEN_LIFETIME_S } from '../../protocol/limits.ts';

/** Measured unit costs. */
export interface Costs {
  /** CPU of a node for a heartbeat or a read on an open connection, µs. */
  readonly requestUs: number;
  /** CPU of a node for an interval that is pushed to a viewer, µs. */
  readonly messageUs: number;
  /** CPU for an answer, including the database, µs. */
  readonly answerUs: number;
  readonly tokenUs: number;
  /** Answer rows that a core of PostgreSQL commits per second. */
  readonly answerRowsPerCoreS: number;
  /** CPU of PostgreSQL without answers, ms per second, for all nodes together. */
  readonly postgresMsS: number;
  /** Commands of a node to Redis per second. */
  readonly redisCommandsS: number;
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

/** How viewers get the feed: by polling, by event streams, or from the caches of a CDN. */
export type Way = 'polling' | 'push' | 'cdn';

interface Show {
  readonly viewers: number;
  readonly way: Way;
  /** The share of viewers who answer a quiz. */
  readonly answering: number;
  /** The time in which they answer, s. */
  readonly quizS: number;
}

export interface Need {
  /** Cores of nodes at a usage of `CORE_USE`. */
  readonly cores: number;
  readonly nodes: number;
  /** Memory for viewers, for all nodes together. */
  readonly memoryGB: number;
  /** Requests to nodes per second. */
  readonly originRequestsS: number;
  /** Commands to Redis per second; 0 with one node, which needs no Redis. */
  readonly redisCommandsS: number;
  readonly redisCores: number;
  /** Traffic to Redis, MB per second. */
  readonly redisMBS: number;
  /** Answers per second while a quiz is open. */
  readonly answersS: number;
  /** Cores of PostgreSQL while a quiz is open; 0 with one node, which needs no PostgreSQL. */
  readonly postgresCores: number;
  /** Requests to caches, millions per hour. */
  readonly cdnMillionsH: number;
  /** Traffic to viewers from nodes and caches, GB per hour, without video. */
  readonly sentByNodesGBH: number;
  readonly sentByCdnGBH: number;
}

/** Planned usage of a core, which leaves room for bursts. */
export const CORE_USE = 0.6;
/** Cores of one machine that run Fourbeat. */
export const NODE_CORES = 8;

const INTERVALS_S = 1_000 / INTERVAL_MS;
// The SDK renews a token before it expires.
const TOKENS_S = 1 / (0.9 * TOKEN_LIFETIME_S);
const HOUR_S = 3_600;
const BITS_PER_BYTE = 8;

/** The needs of a show: sums and products of the unit costs. */
export function needOf(show: Show, costs: Costs): Need {
  const { viewers, way, answering, quizS } = show;
  const answersS = (viewers * answering) / quizS;
  const cores = nodesUs(show, answersS, costs) / 1e6 / CORE_USE;
  const nodes = Math.max(1, Math.ceil(cores / NODE_CORES));
  const isOne = nodes === 1;
  const bytesS = bytesSentS(way, costs);
  return {
    cores,
    nodes,
    memoryGB: (viewers * (costs.pollingBytes + (way === 'push' ? costs.streamBytes : 0))) / 1e9,
    originRequestsS: viewers * (1 + TOKENS_S + (way === 'polling' ? INTERVALS_S : 0)) + answersS,
    redisCommandsS: isOne ? 0 : nodes * costs.redisCommandsS,
    redisCores: isOne ? 0 : redisUs(viewers, nodes, costs) / 1e6,
    redisMBS: isOne ? 0 : (nodes * INTERVALS_S * (viewers / BITS_PER_BYTE)) / 1e6,
    answersS,
    postgresCores: isOne ? 0 : answersS / costs.answerRowsPerCoreS + costs.postgresMsS / 1_000,
    cdnMillionsH: way === 'cdn' ? (viewers * INTERVALS_S * HOUR_S) / 1e6 : 0,
    sentByNodesGBH: (viewers * bytesS.byNodes * HOUR_S) / 1e9,
    sentByCdnGBH: (viewers * bytesS.byCdn * HOUR_S) / 1e9,
  };
}

function nodesUs({ viewers, way }: Show, answersS: number, costs: Costs): number {
  const { requestUs, messageUs, tokenUs, answerUs } = costs;
  // Each location of a CDN requests an interval once, for any number of viewers.
  const feedUs = { polling: requestUs, push: messageUs, cdn: 0 }[way];
  const viewerUs = requestUs + INTERVALS_S * feedUs + TOKENS_S * tokenUs;
  return viewers * viewerUs + answersS * answerUs;
}

/** Bytes per second to one viewer. */
function bytesSentS(way: Way, { heartbeatBytes, readBytes, messageBytes }: Costs) {
  const feed = INTERVALS_S * (way === 'push' ? messageBytes : readBytes);
  return way === 'cdn'
    ? { byNodes: heartbeatBytes, byCdn: feed }
    : { byNodes: heartbeatBytes + feed, byCdn: 0 };
}

/** CPU of Redis for bitsets, µs per second: four bitsets per node, with a bit for each seat. */
function redisUs(viewers: number, nodes: number, { bitsetUs, bitsetByteUs }: Costs): number {
  return nodes * INTERVALS_S * (bitsetUs + (viewers / BITS_PER_BYTE) * bitsetByteUs);
}
