import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../../protocol/interval.ts';
import { NUMBERED_EVENT, type NumberedEvent } from './show.ts';
import type { SimulatedViewer } from './simulated-viewer.ts';
import type { Period } from './virtual-environment.ts';
import type { SentRequest } from './virtual-network.ts';

const SECOND_MS = 1_000;
/** Tolerance for the distance of heartbeats: the machine's clock rate differs from true time. */
const CLOCK_RATE_TOLERANCE_MS = 1;
/** Maximum distance of two heartbeats without faults. */
const MAX_HEARTBEAT_GAP_MS = 1_100;

/**
 * Twice the number of intervals, plus one at either end. Requests of past intervals for a picture may
 * double it.
 */
const MAX_POLLS_PER_SECOND = 10;
/** A step ahead of fewer intervals than this is no jump: nothing is skipped. */
const JUMP_INTERVALS = 20;
/** An interval is shown within this time after its frame: the buffer checks the picture by a timer. */
const DISPLAY_TOLERANCE_MS = 300;
/** A recovered viewer is at most this far behind its picture, or behind the service without one. */
const MAX_LAG_INTERVALS = 6;
/** Maximum effect of an outage after its end: the longest backoff, and the network. */
const RECOVERY_MS = 16_000;

/** Requests of all kinds that may coincide. */
const MAX_REQUESTS_PER_SECOND = 30;

/** Each interval arrives once, in order, with its content; skipped ones are reported as gaps. */
export function checkFeed(viewer: SimulatedViewer, numbered: readonly NumberedEvent[]): string[] {
  return [...checkOrder(viewer), ...checkGaps(viewer), ...checkContent(viewer, numbered)];
}

function checkOrder(simulated: SimulatedViewer): string[] {
  const { log, options } = simulated;
  const violations: string[] = [];
  // Gaps are reported when they are found; intervals that wait for the picture arrive later.
  const skipped = new Set<number>();
  for (const entry of log) {
    if (entry.kind !== 'gap') continue;
    for (let interval = entry.from; interval <= entry.to; interval++) skipped.add(interval);
  }
  let next: number | null = null;
  for (const entry of log) {
    if (entry.kind === 'gap') {
      if (options.latencyMs !== null) continue;
      if (entry.from !== next) violations.push(`a gap from ${entry.from} on, not from ${next}`);
      next = entry.to + 1;
      continue;
    }
    if (entry.kind === 'jump') {
      violations.push(...checkJump(simulated, entry, next));
      next = entry.to;
      continue;
    }
    const { interval } = entry.interval;
    while (next !== null && next < interval && skipped.has(next)) next += 1;
    if (next !== null && interval !== next) violations.push(`${interval} arrived, not ${next}`);
    next = interval + 1;
  }
  return violations;
}

/** A live picture jumps only after a sleep, by the length of the sleep and of outages around it. */
function checkJump(
  { options, machine, outages }: SimulatedViewer,
  { to, atMs }: { readonly to: number; readonly atMs: number },
  next: number | null,
): string[] {
  const { latencyMs } = options;
  if (latencyMs === null) return [`a jump to ${to} without a picture`];
  // Nothing was shown before, so nothing is skipped.
  if (next === null) return [];
  const startMs = intervalStartMs(next);
  const sleptMs = overlapMs(machine.sleeps, startMs + latencyMs, atMs);
  const lostMs = lossMs(outages, startMs, atMs);
  const isExplained =
    to - next >= JUMP_INTERVALS &&
    sleptMs >= JUMP_INTERVALS * INTERVAL_MS - DISPLAY_TOLERANCE_MS &&
    (to - next) * INTERVAL_MS <= sleptMs + lostMs + DISPLAY_TOLERANCE_MS;
  return isExplained ? [] : [`a jump by ${to - next} to ${to} after a sleep of ${sleptMs} ms`];
}

/** Gaps are older than `catchUpMs`, and explained by sleeps or outages. */
function checkGaps({ log, options, machine, outages }: SimulatedViewer): string[] {
  return log.flatMap((entry) => {
    if (entry.kind !== 'gap') return [];
    const { from, to, atMs, errorMs } = entry;
    const behindMs = atMs - intervalStartMs(to);
    const violations =
      behindMs + errorMs < options.catchUpMs ? [`a gap up to ${to}, ${behindMs} ms old`] : [];
    const fromMs = intervalStartMs(from);
    const lostMs = lossMs([...machine.sleeps, ...outages], fromMs, atMs);
    const isExplained = (to - from + 1) * INTERVAL_MS <= lostMs;
    if (!isExplained) violations.push(`a gap from ${from} to ${to} for ${lostMs} ms of faults`);
    return violations;
  });
}

/** Total overlap of the periods with a time span, ms. */
function overlapMs(periods: readonly Period[], fromMs: number, toMs: number): number {
  return periods.reduce((sumMs, period) => {
    const ms = Math.min(period.toMs, toMs) - Math.max(period.fromMs, fromMs);
    return sumMs + Math.max(ms, 0);
  }, 0);
}

/** Maximum loss in a time span, ms: its overlap with the periods and their recovery. */
function lossMs(periods: readonly Period[], fromMs: number, toMs: number): number {
  return overlapMs(
    periods.map((entry) => ({ ...entry, toMs: entry.toMs + RECOVERY_MS })),
    fromMs,
    toMs,
  );
}

function checkContent({ log }: SimulatedViewer, numbered: readonly NumberedEvent[]): string[] {
  const published = Map.groupBy(numbered, ({ interval }) => interval);
  const violations: string[] = [];
  for (const entry of log) {
    if (entry.kind !== 'interval') continue;
    const { interval, events } = entry.interval;
    const all = (published.get(interval) ?? []).map(({ number }) => number);
    const numbers: number[] = [];
    for (const { type, data } of events) {
      if (type === NUMBERED_EVENT) numbers.push((data as { number: number }).number);
    }
    const isComplete =
      numbers.length === all.length && numbers.every((number, index) => number === all[index]);
    if (!isComplete) violations.push(`events ${numbers}, expected ${all}, in ${interval}`);
  }
  return violations;
}

/** The viewer is live, up to date and counted, some time after the last fault. */
export function checkRecovered(simulated: SimulatedViewer, quietMs: number): string[] {
  const { viewer, scheduler, network, log, options } = simulated;
  const { nowMs } = scheduler;
  const violations: string[] = [];
  if (viewer.state !== 'live') violations.push(`the state is ${viewer.state}`);
  const last = log.findLast(({ kind }) => kind === 'interval');
  const newest = last?.kind === 'interval' ? last.interval.interval : 0;
  const behind = intervalAt(nowMs - (options.latencyMs ?? 0)) - newest;
  if (behind > MAX_LAG_INTERVALS) violations.push(`the feed is ${behind} intervals behind`);
  const heartbeats = heartbeatsOf(network.requests).filter(
    ({ sentMs }) => sentMs > nowMs - quietMs,
  );
  // One more or less fits into the time, by its phase.
  if (Math.abs(heartbeats.length - quietMs / SECOND_MS) > 1.01) {
    violations.push(`${heartbeats.length} heartbeats in ${quietMs} ms`);
  }
  if (
    heartbeats.some(
      ({ sentMs }, index) =>
        sentMs - (heartbeats[index - 1]?.sentMs ?? sentMs) > MAX_HEARTBEAT_GAP_MS,
    )
  ) {
    violations.push('a heartbeat is missing');
  }
  return violations;
}

/** Two heartbeats are at least a second apart. */
export function checkHeartbeats({ network, options }: SimulatedViewer): string[] {
  const heartbeats = heartbeatsOf(network.requests);
  return heartbeats.flatMap(({ sentMs }, index) => {
    const before = heartbeats[index - 1];
    if (!before) return [];
    const apartMs = (sentMs - before.sentMs) * options.clockRate;
    return apartMs < SECOND_MS - CLOCK_RATE_TOLERANCE_MS
      ? [`two heartbeats ${apartMs} ms apart`]
      : [];
  });
}

/** Request rates stay limited during catch-up and failures. */
export function checkRequestRates({ network, options }: SimulatedViewer): string[] {
  const { requests } = network;
  const isPolling = options.transport === 'poll' || !options.canStream;
  const polls = requests.filter(
    ({ method, path }) => method === 'GET' && path.includes('/events-streams/'),
  );
  // Requests that wait for a token are sent together; those whose token is rejected are resent.
  const tokensMs = requests.flatMap(({ path, endedMs }) =>
    path.endsWith('/token') ? endedMs : [],
  );
  const ready = polls.filter(({ sentMs }) => !tokensMs.includes(sentMs));
  const rejected = polls.filter(({ status }) => status === 401).length;
  const violations: string[] = [];
  const pollsMax =
    rejected + (options.latencyMs === null ? MAX_POLLS_PER_SECOND : 2 * MAX_POLLS_PER_SECOND);
  // By the viewer's clock: the polls of a hidden page are sent together, once a second.
  if (isPolling && maxInWindow(SECOND_MS / options.clockRate, ready) > pollsMax)
    violations.push('too many polls in a second');
  if (maxInWindow(SECOND_MS, requests) > MAX_REQUESTS_PER_SECOND)
    violations.push('too many requests in a second');
  return violations;
}

/** At most one token request is in flight. */
export function checkTokens({ network }: SimulatedViewer): string[] {
  const requests = network.requests.filter(({ path }) => path.endsWith('/token'));
  return requests.flatMap(({ sentMs }, index) => {
    const before = requests[index - 1];
    const isInFlight = before && (before.endedMs === null || before.endedMs > sentMs);
    return isInFlight ? [`two tokens asked for at once`] : [];
  });
}

/** The reported outcome of each answer is true. */
export function checkAnswers({ answers, service, options, network }: SimulatedViewer): string[] {
  return answers.flatMap(({ quizId, choice, outcome }) => {
    const counted = service.answersTo(quizId).get(options.viewerId);
    const isTrue = {
      counted: counted === choice,
      'other-answer': counted !== undefined && counted !== choice,
      'too-late': counted === undefined,
      refused: counted === undefined,
      unknown: !network.requests.some(
        ({ path, status, isDelivered }) => path.includes(quizId) && isDelivered && status === 204,
      ),
      null: false,
    }[String(outcome)];
    return isTrue ? [] : [`an answer is reported as ${outcome}, but ${counted ?? 'none'} counts`];
  });
}

/** The clock never goes back. */
export function checkClock({ maxClockBackstepMs }: SimulatedViewer): string[] {
  return maxClockBackstepMs > 0 ? [`the clock went back by ${maxClockBackstepMs} ms`] : [];
}

/** No requests, timers or listeners remain after leaving. */
export function checkAfterLeaving({ network, machine }: SimulatedViewer, leftMs: number): string[] {
  const later = network.requests.filter(({ sentMs }) => sentMs > leftMs);
  const violations = later.map(({ method, path }) => `${method} ${path} after leaving`);
  if (machine.pendingTimers > 0) violations.push(`${machine.pendingTimers} timers after leaving`);
  if (machine.visibilityListeners > 0)
    violations.push(`${machine.visibilityListeners} listeners after leaving`);
  return violations;
}

/** Maximum number of requests in a window of this length. @param requests ordered by `sentMs` */
export function maxInWindow(
  spanMs: number,
  requests: readonly { readonly sentMs: number }[],
): number {
  let first = 0;
  let most = 0;
  for (const [last, { sentMs }] of requests.entries()) {
    while (sentMs - (requests[first]?.sentMs ?? sentMs) >= spanMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

export function heartbeatsOf(requests: readonly SentRequest[]): SentRequest[] {
  return requests.filter(({ method, path }) => method === 'POST' && path.includes('/view-counts/'));
}
