import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../../protocol/interval.ts';
import { MARK, type Mark } from './show.ts';
import type { SimulatedViewer } from './simulated-viewer.ts';
import type { Period } from './virtual-environment.ts';
import type { SentRequest } from './virtual-network.ts';

const SECOND_MS = 1_000;
/** Two heartbeats may be so much closer by the true time, whose pace is not the machine's. */
const PACE_MS = 1;
/** When all is well, no two are further apart. */
const APART_MS = 1_100;

/**
 * Twice as many as there are intervals, one at either end, and one for a timer that came late. Past
 * intervals for a picture are as many again.
 */
const POLLS_MAX = 10;
/** A picture that is so near, in intervals from the next one, is gone on with: nothing is left out. */
const JUMP_AHEAD = 20;
/** An interval that is on screen is told within this, with all looks at the picture. */
const LATE_MS = 300;
/** The longest wait for another try, and its way: what an outage costs after its end. */
const RECOVERY_MS = 16_000;

/** With all that a viewer may have to say at once. */
const REQUESTS_MAX = 30;

/** All intervals in their order, each once, with what was in them; what is passed over is told. */
export function wrongInFeed(guest: SimulatedViewer, marks: readonly Mark[]): string[] {
  return [...wrongInOrder(guest), ...wrongInGaps(guest), ...wrongInContent(guest, marks)];
}

function wrongInOrder(guest: SimulatedViewer): string[] {
  const { told, options } = guest;
  const wrong: string[] = [];
  // Gaps are told when they are found; what is held for the picture comes later.
  const passedOver = new Set<number>();
  for (const one of told) {
    if (one.kind !== 'gap') continue;
    for (let interval = one.from; interval <= one.to; interval++) passedOver.add(interval);
  }
  let next: number | null = null;
  for (const one of told) {
    if (one.kind === 'gap') {
      if (options.latencyMs !== null) continue;
      if (one.from !== next) wrong.push(`a gap from ${one.from} on, not from ${next}`);
      next = one.to + 1;
      continue;
    }
    if (one.kind === 'jump') {
      wrong.push(...wrongInJump(guest, one, next));
      next = one.to;
      continue;
    }
    const { interval } = one.interval;
    while (next !== null && next < interval && passedOver.has(next)) next += 1;
    if (next !== null && interval !== next) wrong.push(`${interval} came, not ${next}`);
    next = interval + 1;
  }
  return wrong;
}

/**
 * A picture that is live goes ahead, and far enough to be gone after only when the machine slept: by
 * what was slept through, and what did not come because something else was wrong.
 */
function wrongInJump(
  { options, machine, outages }: SimulatedViewer,
  { to, atMs }: { readonly to: number; readonly atMs: number },
  next: number | null,
): string[] {
  const { latencyMs } = options;
  if (latencyMs === null) return [`a jump to ${to} without a picture`];
  // Nothing was on screen that could be left out.
  if (next === null) return [];
  const happenedMs = intervalStartMs(next);
  const sleptMs = msIn(machine.sleeps, happenedMs + latencyMs, atMs);
  const lostMs = lostIn(outages, happenedMs, atMs);
  const isExplained =
    to - next >= JUMP_AHEAD &&
    sleptMs >= JUMP_AHEAD * INTERVAL_MS - LATE_MS &&
    (to - next) * INTERVAL_MS <= sleptMs + lostMs + LATE_MS;
  return isExplained ? [] : [`a jump by ${to - next} to ${to} after a sleep of ${sleptMs} ms`];
}

/** What is passed over is older than what is caught up with, and something kept it from coming. */
function wrongInGaps({ told, options, machine, outages }: SimulatedViewer): string[] {
  return told.flatMap((one) => {
    if (one.kind !== 'gap') return [];
    const { from, to, atMs, errorMs } = one;
    const behindMs = atMs - intervalStartMs(to);
    const wrong =
      behindMs + errorMs < options.catchUpMs ? [`a gap up to ${to}, ${behindMs} ms old`] : [];
    const fromMs = intervalStartMs(from);
    const lostMs = lostIn([...machine.sleeps, ...outages], fromMs, atMs);
    const isExplained = (to - from + 1) * INTERVAL_MS <= lostMs;
    if (!isExplained) wrong.push(`a gap from ${from} to ${to} for ${lostMs} ms of trouble`);
    return wrong;
  });
}

/** How much of these there was in that time, ms. */
function msIn(periods: readonly Period[], fromMs: number, toMs: number): number {
  return periods.reduce((sumMs, period) => {
    const ms = Math.min(period.toMs, toMs) - Math.max(period.fromMs, fromMs);
    return sumMs + Math.max(ms, 0);
  }, 0);
}

/** How much may not have come in that time, ms: nothing, if nothing was wrong, or is over for long. */
function lostIn(periods: readonly Period[], fromMs: number, toMs: number): number {
  return msIn(
    periods.map((one) => ({ ...one, toMs: one.toMs + RECOVERY_MS })),
    fromMs,
    toMs,
  );
}

function wrongInContent({ told }: SimulatedViewer, marks: readonly Mark[]): string[] {
  const published = new Map<number, number[]>();
  for (const { interval, number } of marks) {
    const known = published.get(interval);
    if (known) known.push(number);
    else published.set(interval, [number]);
  }
  const wrong: string[] = [];
  for (const one of told) {
    if (one.kind !== 'interval') continue;
    const { interval, events } = one.interval;
    const all = published.get(interval) ?? [];
    const numbers: number[] = [];
    for (const { type, data } of events) {
      if (type === MARK) numbers.push((data as { number: number }).number);
    }
    const isWhole = numbers.length === all.length && numbers.every((it, at) => it === all[at]);
    if (!isWhole) wrong.push(`marks ${numbers}, not ${all}, in ${interval}`);
  }
  return wrong;
}

/** Whether all is well again some time after the last mishap. */
export function wrongAtTheEnd(guest: SimulatedViewer, quietMs: number): string[] {
  const { viewer, scheduler, network, told, options } = guest;
  const { nowMs } = scheduler;
  const wrong: string[] = [];
  if (viewer.state !== 'live') wrong.push(`the state is ${viewer.state}`);
  const last = told.findLast(({ kind }) => kind === 'interval');
  const newest = last?.kind === 'interval' ? last.interval.interval : 0;
  const behind = intervalAt(nowMs - (options.latencyMs ?? 0)) - newest;
  if (behind > 6) wrong.push(`the feed is ${behind} intervals behind`);
  const beats = beatsOf(network.requests).filter(({ sentMs }) => sentMs > nowMs - quietMs);
  if (Math.abs(beats.length - quietMs / SECOND_MS) > 1.01) {
    wrong.push(`${beats.length} heartbeats in ${quietMs} ms`);
  }
  if (beats.some(({ sentMs }, at) => sentMs - (beats[at - 1]?.sentMs ?? sentMs) > APART_MS)) {
    wrong.push('a heartbeat is missing');
  }
  return wrong;
}

/** Never two in a second. */
export function wrongInHeartbeats({ network, options }: SimulatedViewer): string[] {
  const beats = beatsOf(network.requests);
  return beats.flatMap(({ sentMs }, at) => {
    const before = beats[at - 1];
    if (!before) return [];
    const apartMs = (sentMs - before.sentMs) * options.pace;
    return apartMs < SECOND_MS - PACE_MS ? [`two heartbeats ${apartMs} ms apart`] : [];
  });
}

/** However much there is to catch up with, and however often it fails. */
export function wrongInRates({ network, options }: SimulatedViewer): string[] {
  const { requests } = network;
  const isPolling = options.transport === 'poll' || !options.canStream;
  const polls = requests.filter(
    ({ method, path }) => method === 'GET' && path.includes('/events-streams/'),
  );
  // Those that wait for a token go out together, and those whose token is refused are sent again.
  const tokensMs = requests.flatMap(({ path, overMs }) => (path.endsWith('/token') ? overMs : []));
  const ready = polls.filter(({ sentMs }) => !tokensMs.includes(sentMs));
  const refused = polls.filter(({ status }) => status === 401).length;
  const wrong: string[] = [];
  const pollsMax = refused + (options.latencyMs === null ? POLLS_MAX : 2 * POLLS_MAX);
  if (isPolling && mostIn(SECOND_MS, ready) > pollsMax) wrong.push('too many polls in a second');
  if (mostIn(SECOND_MS, requests) > REQUESTS_MAX) wrong.push('too many requests in a second');
  return wrong;
}

/** One token is asked for at a time. */
export function wrongInTokens({ network }: SimulatedViewer): string[] {
  const asked = network.requests.filter(({ path }) => path.endsWith('/token'));
  return asked.flatMap(({ sentMs }, at) => {
    const before = asked[at - 1];
    const isUnderWay = before && (before.overMs === null || before.overMs > sentMs);
    return isUnderWay ? [`two tokens asked for at once`] : [];
  });
}

/** What the viewer was told about an answer is true. */
export function wrongInAnswers({ answers, service, options, network }: SimulatedViewer): string[] {
  return answers.flatMap(({ quizId, choice, outcome }) => {
    const counted = service.answersTo(quizId).get(options.viewerId);
    const isTrue = {
      counted: counted === choice,
      'other-answer': counted !== undefined && counted !== choice,
      'too-late': counted === undefined,
      refused: counted === undefined,
      unknown: !network.requests.some(
        ({ path, status, isAnswered }) => path.includes(quizId) && isAnswered && status === 204,
      ),
      null: false,
    }[String(outcome)];
    return isTrue ? [] : [`an answer is said to be ${outcome}, and ${counted ?? 'none'} counts`];
  });
}

/** It never goes back. */
export function wrongInClock({ clockBackMs }: SimulatedViewer): string[] {
  return clockBackMs > 0 ? [`the clock went back by ${clockBackMs} ms`] : [];
}

/** Nothing is left of who has left. */
export function wrongAfterLeaving({ network, machine }: SimulatedViewer, leftMs: number): string[] {
  const later = network.requests.filter(({ sentMs }) => sentMs > leftMs);
  const wrong = later.map(({ method, path }) => `${method} ${path} after leaving`);
  if (machine.waiting > 0) wrong.push(`${machine.waiting} timers after leaving`);
  if (machine.lookers > 0) wrong.push(`${machine.lookers} listeners after leaving`);
  return wrong;
}

/** The most in any span of so many ms. @param requests in the order in which they were sent */
export function mostIn(spanMs: number, requests: readonly { readonly sentMs: number }[]): number {
  let first = 0;
  let most = 0;
  for (const [last, { sentMs }] of requests.entries()) {
    while (sentMs - (requests[first]?.sentMs ?? sentMs) >= spanMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

export function beatsOf(requests: readonly SentRequest[]): SentRequest[] {
  return requests.filter(({ method, path }) => method === 'POST' && path.includes('/view-counts/'));
}
