import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { RequestResult } from '../kill/retrying-client.ts';
import type { Judgement } from './checks.ts';
import type { Outage, Outages } from './outages.ts';

// I-7, N-9, N-10: a backend that is unavailable is a 503 within this time.
const UNAVAILABLE_MS = 300;
// a backend that is slow is a 503 within this time, and no answer takes longer.
const SLOW_MS = 900;
// N-9, N-10: a node keeps the last minute of intervals in its memory; this is safely within it.
const MEMORY_MS = 40_000;
// F-4: how far ahead of the current interval one may ask.
const AHEAD_INTERVALS = 4;
/**
 * What a measurement of ours may be over. Nodes, Redis, PostgreSQL and this process share two cores
 * here, and each of them may wait for a core for a few times the scheduler's slice; a promise that
 * is broken is broken by much more, since the next limits of the program are 0.8 s and above. Time
 * in which this process itself did not run is taken off besides.
 */
export const TOLERANCE_MS = 200;
// A service clock may be this far from ours: the round trip in which it was read.
const CLOCK_MS = 60;

/** What a path may say when all is well. */
const RIGHT: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^POST \/api\/v1\/view-counts\//, [204]],
  [/^GET \/api\/v1\/view-counts\//, [200]],
  [/^POST \/api\/v1\/quizzes\/[^/]+\/answer$/, [204, 409]],
  [/^POST \/api\/v1\/quizzes\/[^/]+\/record-winner$/, [204, 401, 409]],
  [/^POST \/api\/v1\/events-streams\/[^/]+\/chats$/, [204]],
  [/^GET \/api\/v1\/events-streams\//, [200]],
  [/^POST \/api\/v1\/token$/, [200]],
  [/^POST \/studio\/v1\//, [200, 201]],
];

/**
 * I-7: whatever is broken, clients hear a 2xx, a 4xx that is right, or in time a 503 with
 * `Retry-After`; and a connection breaks only together with its node.
 */
export class ResponseChecker {
  readonly figures = { requests: 0, unavailable: 0, unavailableMs: 0, lost: 0, slowestMs: 0 };
  /** What each node has served, and when first, while it lives: it is in its memory. */
  private readonly inMemory = new Map<string, number>();

  constructor(
    private readonly outages: Outages,
    private readonly judgement: Judgement,
  ) {}

  readonly told = (told: RequestResult): void => {
    const { figures, judgement } = this;
    figures.requests++;
    const { method, path, status, sentMs, answeredMs, node } = told;
    const outages = this.outages.during(sentMs, answeredMs);
    const what = `${method} ${path} on node ${node} after ${answeredMs - sentMs} ms`;
    const context = () => this.outages.around(sentMs, answeredMs);
    if (status === null) {
      figures.lost++;
      if (!outages.some((outage) => endsConnections(outage, node))) {
        judgement.late(`no answer to ${what} ${context()}`, sentMs, answeredMs);
      }
      return;
    }
    const lateMs = this.lateMs(told, outages);
    figures.slowestMs = Math.max(figures.slowestMs, lateMs);
    if (status === 503) {
      figures.unavailable++;
      figures.unavailableMs = Math.max(figures.unavailableMs, lateMs);
      if (told.retryAfterS < 1) judgement.wrong(`503 without Retry-After to ${what}`);
      if (outages.length === 0) {
        judgement.late(`503 while nothing is broken to ${what}`, sentMs, answeredMs);
      }
      const servedMs = this.inMemory.get(`${node} ${path}`) ?? Number.NEGATIVE_INFINITY;
      const isInMemory = sentMs - servedMs < MEMORY_MS;
      if (isInMemory) judgement.wrong(`503 for what the node has in memory to ${what}`);
    } else if (!isRight(told)) judgement.wrong(`${status} to ${what}`);
    else if (status === 200 && askedInterval(path) !== null) this.served(node, path, answeredMs);
    const mostMs = status === 503 ? this.mostMs(told, outages) : SLOW_MS;
    if (lateMs > mostMs + TOLERANCE_MS) {
      const late = `${status} ${lateMs} ms late, ${mostMs} allowed, to ${what} ${context()}`;
      judgement.late(late, sentMs, answeredMs);
    }
  };

  /** A node starts with nothing in its memory. */
  nodeEnded(node: number): void {
    for (const key of this.inMemory.keys()) {
      if (key.startsWith(`${node} `)) this.inMemory.delete(key);
    }
  }

  private served(node: number, path: string, atMs: number): void {
    const key = `${node} ${path}`;
    const startMs = intervalStartMs(askedInterval(path) ?? 0);
    const isOld = atMs - startMs > MEMORY_MS;
    // What passed while something was broken, a node may have read from the database.
    const isCalm = this.outages.during(startMs, atMs).length === 0;
    if (!isOld && isCalm && !this.inMemory.has(key)) this.inMemory.set(key, atMs);
    const [[oldest, servedMs] = ['', atMs]] = this.inMemory;
    if (atMs - servedMs > MEMORY_MS) this.inMemory.delete(oldest);
  }

  /** How long ago it could be answered: it was sent, its interval ended, what broke broke. */
  private lateMs({ path, sentMs, answeredMs, node: at }: RequestResult, outages: readonly Outage[]): number {
    const asked = askedInterval(path);
    const endedMs = asked === null ? sentMs : intervalStartMs(asked + 1);
    const turns = outages.map(({ what, node, fromMs, toMs }) => {
      return what === 'stalled' && node === at ? toMs : fromMs;
    });
    const sinceMs = Math.max(sentMs, ...[endedMs, ...turns].map((ms) => Math.min(answeredMs, ms)));
    return answeredMs - sinceMs - this.judgement.machine.stalledMs(sinceMs, answeredMs);
  }

  private mostMs({ answeredMs, node: at }: RequestResult, outages: readonly Outage[]): number {
    const isUnavailable = ({ what, node, toMs }: Outage) => {
      return toMs > answeredMs && (node === null || (node === at && what === 'cut'));
    };
    return outages.some(isUnavailable) ? UNAVAILABLE_MS : SLOW_MS;
  }
}

/** Whether an answer of a node may never come: it died, ends, or does not run. */
function endsConnections({ what, node }: Outage, at: number): boolean {
  return node === at && what !== 'cut';
}

function isRight({ method, path, status, sentMs }: RequestResult): boolean {
  const asked = askedInterval(path);
  const tooFarAhead = (asked ?? 0) > intervalAt(sentMs - CLOCK_MS) + AHEAD_INTERVALS;
  if (status === 400 && asked !== null && tooFarAhead) return true;
  const allowed = RIGHT.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
  return allowed?.includes(status ?? 0) === true;
}

function askedInterval(path: string): number | null {
  const asked = /^\/api\/v1\/events-streams\/[^?]+\?interval=(\d+)$/.exec(path)?.[1];
  return asked === undefined ? null : Number(asked);
}
