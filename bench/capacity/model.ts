import { INTERVAL_MS } from '../../protocol/interval.ts';
import { TOKEN_LIFETIME_S } from '../../protocol/limits.ts';

/** What one thing costs, each as it was measured. */
export interface Costs {
  /** CPU of a node, µs. */
  readonly heartbeatUs: number;
  readonly feedReadUs: number;
  readonly pushMessageUs: number;
  readonly answerUs: number;
  readonly tokenUs: number;
  /** Rows of answers that a core of PostgreSQL commits in a second. */
  readonly answerRowsPerCoreS: number;
  /** CPU of Redis for a bitset, and for each byte of it, µs. */
  readonly bitsetUs: number;
  readonly bitsetByteUs: number;
  /** Memory of a node for a viewer, bytes. */
  readonly viewerBytes: number;
  /** On the wire, for an answer of the feed with its head, for a message, for a heartbeat and its answer. */
  readonly feedReadBytes: number;
  readonly pushMessageBytes: number;
  readonly heartbeatBytes: number;
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
  readonly memoryGB: number;
  /** Of one core of Redis; 0 with one node, which needs none. */
  readonly redisCores: number;
  /** Cores of PostgreSQL while a quiz is answered. */
  readonly postgresCores: number;
  /** Requests that reach nodes, a second. */
  readonly originRequestsS: number;
  /** Requests that caches answer, millions an hour. */
  readonly cdnMillionsH: number;
  /** What viewers are sent, GB an hour, without video. */
  readonly sentGBH: number;
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
export function needOf({ viewers, way, answering, quizS }: Show, costs: Costs): Need {
  const answersS = (viewers * answering) / quizS;
  const cpuUs =
    viewers * (costs.heartbeatUs + INTERVALS_S * feedUs(way, costs) + TOKENS_S * costs.tokenUs) +
    answersS * costs.answerUs;
  const cores = cpuUs / 1e6 / CORE_USE;
  const nodes = Math.max(1, Math.ceil(cores / NODE_CORES));
  const fromCaches = way === 'cdn' ? viewers * INTERVALS_S : 0;
  const reads = way === 'polling' ? viewers * INTERVALS_S : 0;
  const sentBytesS =
    viewers *
    (costs.heartbeatBytes +
      INTERVALS_S * (way === 'push' ? costs.pushMessageBytes : costs.feedReadBytes));
  return {
    cores,
    nodes,
    memoryGB: (viewers * costs.viewerBytes) / 1e9,
    redisCores: nodes === 1 ? 0 : redisUs(viewers, nodes, costs) / 1e6,
    postgresCores: nodes === 1 ? 0 : answersS / costs.answerRowsPerCoreS,
    originRequestsS: viewers * (1 + TOKENS_S) + reads + answersS,
    cdnMillionsH: (fromCaches * HOUR_S) / 1e6,
    sentGBH: (sentBytesS * HOUR_S) / 1e9,
  };
}

/** What a node does for one interval of one viewer. */
function feedUs(way: Way, { feedReadUs, pushMessageUs }: Costs): number {
  if (way === 'push') return pushMessageUs;
  // A cache asks once for each of its places, however many viewers are there.
  return way === 'cdn' ? 0 : feedReadUs;
}

/** Four bitsets a second of each node, as long as the highest seat is high. */
function redisUs(viewers: number, nodes: number, { bitsetUs, bitsetByteUs }: Costs): number {
  return nodes * INTERVALS_S * (bitsetUs + (viewers / BITS_PER_BYTE) * bitsetByteUs);
}
