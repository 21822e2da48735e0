import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { RequestResult } from '../kill/retrying-client.ts';
import type { Checks } from './checks.ts';
import type { Outage, Outages } from './outages.ts';

// I-7, N-9, N-10: limit for a 503 while a backend is unavailable.
const UNAVAILABLE_LIMIT_MS = 300;
// limit for a 503 while a backend is slow, and for every other response.
const SLOW_LIMIT_MS = 900;
// N-9, N-10: a node caches the last minute of intervals; this is safely within it.
const CACHE_MS = 40_000;
// F-4: how far ahead of the current interval a viewer may ask.
const MAX_AHEAD_INTERVALS = 4;
/**
 * Tolerance of a measured time. Nodes, Redis, PostgreSQL and this process share two cores, and each
 * may wait for a core for a few scheduler slices. A broken guarantee exceeds this by far, since the
 * next higher time limits of the program begin at 0.8 s. Time in which this process did not run or the
 * node waited for a core is subtracted separately.
 */
export const TOLERANCE_MS = 200;
// The service clock is read by a round trip, which may be wrong by this much.
const CLOCK_ERROR_MS = 60;

/** The statuses of each route, besides the 503 of an outage. */
const ALLOWED_STATUSES: readonly (readonly [RegExp, readonly number[]])[] = [
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
 * Checks I-7: whatever is broken, each response is a 2xx, a correct 4xx, or a 503 with `Retry-After`
 * in time; and a connection breaks only when its node ends or stalls.
 */
export class ResponseChecker {
  readonly figures = { requests: 0, unavailable: 0, maxUnavailableMs: 0, maxLatencyMs: 0 };
  /** When each node first served a path (`NODE PATH`); from then on the node has it cached. */
  private readonly servedMsByPath = new Map<string, number>();

  constructor(
    private readonly outages: Outages,
    private readonly checks: Checks,
  ) {}

  readonly check = (result: RequestResult): void => {
    const { figures, checks } = this;
    figures.requests++;
    const { method, path, status, sentMs, answeredMs, node } = result;
    const outages = this.outages.during(sentMs, answeredMs);
    const request = `${method} ${path} on node ${node} after ${answeredMs - sentMs} ms`;
    const context = () => this.outages.describe(sentMs, answeredMs);
    if (status === null) {
      if (!outages.some((outage) => mayLoseResponse(outage, node))) {
        checks.failTiming(`no answer to ${request} ${context()}`, sentMs, answeredMs);
      }
      return;
    }
    const latencyMs = this.latencyMs(result, outages);
    figures.maxLatencyMs = Math.max(figures.maxLatencyMs, latencyMs);
    if (status === 503) this.check503(result, outages, latencyMs);
    else if (!isAllowed(result)) checks.fail(`${status} to ${request}`);
    else if (status === 200 && requestedInterval(path) !== null) {
      this.recordServed(node, path, answeredMs);
    }
    const limitMs = status === 503 ? this.limitOf503Ms(result, outages) : SLOW_LIMIT_MS;
    if (latencyMs > limitMs + TOLERANCE_MS) {
      const violation = `${status} ${latencyMs} ms late, ${limitMs} allowed, to ${request} ${context()}`;
      checks.failTiming(violation, sentMs, answeredMs);
    }
  };

  /** A restarted node has an empty cache. */
  forgetNode(node: number): void {
    for (const key of this.servedMsByPath.keys()) {
      if (key.startsWith(`${node} `)) this.servedMsByPath.delete(key);
    }
  }

  private check503(result: RequestResult, outages: readonly Outage[], latencyMs: number): void {
    const { figures, checks } = this;
    const { method, path, sentMs, answeredMs, node } = result;
    const request = `${method} ${path} on node ${node} after ${answeredMs - sentMs} ms`;
    figures.unavailable++;
    figures.maxUnavailableMs = Math.max(figures.maxUnavailableMs, latencyMs);
    if (result.retryAfterS < 1) checks.fail(`503 without Retry-After to ${request}`);
    if (outages.length === 0) {
      checks.failTiming(`503 without an outage to ${request}`, sentMs, answeredMs);
    }
    const servedMs = this.servedMsByPath.get(`${node} ${path}`) ?? Number.NEGATIVE_INFINITY;
    const isCached = sentMs - servedMs < CACHE_MS;
    if (isCached) checks.fail(`503 for an interval that the node has cached to ${request}`);
  }

  private recordServed(node: number, path: string, atMs: number): void {
    const key = `${node} ${path}`;
    const startMs = intervalStartMs(requestedInterval(path) ?? 0);
    const isOld = atMs - startMs > CACHE_MS;
    // A node may have read an interval of an outage from the database without caching it.
    const hadNoOutage = this.outages.during(startMs, atMs).length === 0;
    if (!isOld && hadNoOutage && !this.servedMsByPath.has(key)) {
      this.servedMsByPath.set(key, atMs);
    }
    const [[oldest, servedMs] = ['', atMs]] = this.servedMsByPath;
    if (atMs - servedMs > CACHE_MS) this.servedMsByPath.delete(oldest);
  }

  /**
   * The latency since the node could first respond: since the request was sent, its interval ended,
   * and the last outage changed.
   */
  private latencyMs(result: RequestResult, outages: readonly Outage[]): number {
    const { path, sentMs, answeredMs } = result;
    const interval = requestedInterval(path);
    const endedMs = interval === null ? sentMs : intervalStartMs(interval + 1);
    const changes = outages.map((outage) => {
      const { kind, fromMs, repairedMs } = outage;
      // A node that starts accepts connections before it is ready.
      const wasDown = kind === 'stalled' || repairedMs < answeredMs;
      return wasDown && mayLoseResponse(outage, result.node) ? repairedMs : fromMs;
    });
    const sinceMs = Math.max(
      sentMs,
      ...[endedMs, ...changes].map((ms) => Math.min(answeredMs, ms)),
    );
    const { machineLoad } = this.checks;
    return answeredMs - sinceMs - machineLoad.stalledMs(sinceMs, answeredMs, [result.node]);
  }

  private limitOf503Ms(result: RequestResult, outages: readonly Outage[]): number {
    const isUnavailable = ({ kind, node, repairedMs }: Outage) => {
      const isAffected = node === null || (node === result.node && kind === 'cut');
      return repairedMs > result.answeredMs && isAffected;
    };
    return outages.some(isUnavailable) ? UNAVAILABLE_LIMIT_MS : SLOW_LIMIT_MS;
  }
}

/** Whether a response of the node may be missing: it was killed, stopped or suspended. */
function mayLoseResponse(outage: Outage, node: number): boolean {
  return outage.node === node && outage.kind !== 'cut';
}

function isAllowed({ method, path, status, sentMs }: RequestResult): boolean {
  const interval = requestedInterval(path);
  const latest = intervalAt(sentMs - CLOCK_ERROR_MS) + MAX_AHEAD_INTERVALS;
  if (status === 400 && interval !== null && interval > latest) return true;
  const allowed = ALLOWED_STATUSES.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
  return allowed?.includes(status ?? 0) === true;
}

function requestedInterval(path: string): number | null {
  const interval = /^\/api\/v1\/events-streams\/[^?]+\?interval=(\d+)$/.exec(path)?.[1];
  return interval === undefined ? null : Number(interval);
}
