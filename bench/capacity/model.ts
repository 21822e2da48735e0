import { INTERVAL_MS } from '../../protocol/interval.ts';
import { TOKEN_LIFETIME_S } from '../../protocol/limits.ts';

/** What one thing costs, each as it was measured. */
export interface Costs {
  /** CPU of a node for a heartbeat or a read of a viewer who has a connection, µs. */
  readonly requestUs: number;
  /** CPU of a node for an interval that is pushed to a viewer, µs. */
  readonly messageUs: number;
  /** CPU for an answer, with that of the database, µs. */
  readonly answerUs: number;
  readonly tokenUs: number;
  /** Rows of answers that a core of PostgreSQL commits in a second. */
  readonly answerRowsPerCoreS: number;
  /** CPU of PostgreSQL beside answers, ms a second, for all nodes together. */
  readonly postgresMsS: number;
  /** Commands of a node to Redis, a second. */
  readonly redisCommandsS: number;
  /** CPU of Redis for a bitset, and for each byte of it, µs. */
  readonly bitsetUs: number;
  readonly bitsetByteUs: number;
  /** Memory of a node for a viewer who sends heartbeats and polls, and for an event stream, bytes. */
  readonly pollingBytes: number;
  readonly streamBytes: number;
  /** On the wire: the answer to a heartbeat, an interval with its head, a message of an event stream. */
  readonly heartbeatBytes: number;
  readonly readBytes: number;
  readonly messageBytes: number;
}

/** How viewers get the feed: each asks for every interval, a stream to each, or from caches of a CDN. */
export type Way = 'polling' | 'push' | 'cdn';

/** What a show is like. */
export interface Show {
  readonly viewers: number;
  readonly way: Way;
  /** The share of viewers who answer a quiz. */
  readonly answering: number;
  /** How long they take for it, s. */
  readonly quizS: number;
}

/** What a show needs while it runs. */
export interface Need {
  /** Cores of nodes, each used to `CORE_USE`. */
  readonly cores: number;
  readonly nodes: number;
  /** Of viewers, for all nodes together. */
  readonly memoryGB: number;
  /** Requests that reach nodes, a second. */
  readonly originRequestsS: number;
  /** Commands to Redis, a second; 0 with one node, which needs none. */
  readonly redisCommandsS: number;
  /** Of the one core that Redis has. */
  readonly redisCores: number;
  /** What Redis takes in, MB a second. */
  readonly redisMBS: number;
  /** Answers that are recorded, a second, while a quiz is answered. */
  readonly answersS: number;
  /** Cores of PostgreSQL meanwhile; 0 with one node, which needs none. */
  readonly postgresCores: number;
  /** Requests that caches answer, millions an hour. */
  readonly cdnMillionsH: number;
  /** What viewers are sent by nodes and by caches, GB an hour, without video. */
  readonly sentByNodesGBH: number;
  readonly sentByCdnGBH: number;
}

/** Beyond this a core has no room for what comes all at once. */
export const CORE_USE = 0.6;
/** Cores of one machine that run Fourbeat. */
export const NODE_CORES = 8;

const INTERVALS_S = 1_000 / INTERVAL_MS;
// The SDK asks for a new token before the old one ends.
const TOKENS_S = 1 / (0.9 * TOKEN_LIFETIME_S);
const HOUR_S = 3_600;
const BITS_PER_BYTE = 8;

/** What so many viewers need. All of it is sums and products of what was measured. */
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
  // A cache asks once for each of its places, however many viewers are there.
  const feedUs = { polling: requestUs, push: messageUs, cdn: 0 }[way];
  const viewerUs = requestUs + INTERVALS_S * feedUs + TOKENS_S * tokenUs;
  return viewers * viewerUs + answersS * answerUs;
}

/** To one viewer, a second. */
function bytesSentS(way: Way, { heartbeatBytes, readBytes, messageBytes }: Costs) {
  const feed = INTERVALS_S * (way === 'push' ? messageBytes : readBytes);
  return way === 'cdn'
    ? { byNodes: heartbeatBytes, byCdn: feed }
    : { byNodes: heartbeatBytes + feed, byCdn: 0 };
}

/** Four bitsets a second of each node, as long as the highest seat is high. */
function redisUs(viewers: number, nodes: number, { bitsetUs, bitsetByteUs }: Costs): number {
  return nodes * INTERVALS_S * (bitsetUs + (viewers / BITS_PER_BYTE) * bitsetByteUs);
}
