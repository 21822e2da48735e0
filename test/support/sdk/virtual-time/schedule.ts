import { type MockService, mockService } from '../../../../sdk/mock/mock-service.ts';
import {
  wrongAfterLeaving,
  wrongAtTheEnd,
  wrongInAnswers,
  wrongInClock,
  wrongInFeed,
  wrongInHeartbeats,
  wrongInRates,
  wrongInTokens,
} from './checks.ts';
import { HARMLESS, MISHAPS } from './faults.ts';
import { Scheduler } from './scheduler.ts';
import { Show } from './show.ts';
import { type GuestOptions, SimulatedViewer } from './simulated-viewer.ts';

const START_MS = 1_760_000_000_000;
/** Things go wrong in this time, each for a while. */
const ROUGH_MS = 20_000;
const MISHAP_MS = 8_000;
/** Some come after a calm, when tokens are renewed and old ones expire, and their event streams end. */
const LONG_SHOWS = 0.01;
const CALM_MS = 420_000;
const RENEWALS_MS = 190_000;
/**
 * All has to be well again in this time, for so long. Back-offs grow to 15 s, of one thing that needs
 * another too, and who polls catches up with a second in a second.
 */
const HEALING_MS = 60_000;
const WELL_MS = 6_000;
/** Longer than any request waits. */
const LEFT_MS = 6_000;
const LOOK_MS = 730;
/** A system clock that is set by less than this is not noticed, and then hides a part of a sleep. */
const UNSEEN_MS = 501;
/** Some shows go on to a finale. */
const FINALES = 0.3;
/** Results are there by then, and the winners. */
const QUIZ_TOLD_MS = 1_000;
const WINNERS_TOLD_MS = 2_500;

/** What one schedule did. */
export interface Run {
  /** What went wrong by chance, in order: for people. */
  readonly mishaps: readonly string[];
  /** What did not hold; empty when all is well. */
  readonly wrong: readonly string[];
}

/** One viewer, and what chance has for it: all of it follows from `random`. */
export function runSchedule(random: () => number): Run {
  const scheduler = new Scheduler(START_MS + Math.floor(random() * 1_000_000));
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const guest = new SimulatedViewer(scheduler, service, random, guestOptions(random));
  const show = new Show(scheduler, service, random);
  const calmMs = random() < LONG_SHOWS ? CALM_MS + random() * RENEWALS_MS : 0;
  const mishaps = planMishaps(guest, service, random, calmMs);
  const wrong = watch(guest, calmMs);
  const hasFinale = guest.options.latencyMs === null && random() < FINALES;
  if (hasFinale && wrong.length === 0) wrong.push(...finale(guest, show));
  guest.viewer.leave();
  const leftMs = scheduler.nowMs;
  scheduler.advance(LEFT_MS);
  wrong.push(
    ...wrongInFeed(guest, show.marks),
    ...wrongInHeartbeats(guest),
    ...wrongInTokens(guest),
    ...wrongInRates(guest),
    ...wrongInAnswers(guest),
    ...wrongInClock(guest),
    ...wrongAfterLeaving(guest, leftMs),
  );
  return { mishaps: [JSON.stringify(guest.options), ...mishaps], wrong };
}

function guestOptions(random: () => number): GuestOptions {
  const among = <T>(...values: T[]) => values[Math.floor(random() * values.length)] as T;
  return {
    viewerId: 'ada',
    transport: among('auto', 'auto', 'stream', 'poll'),
    canStream: random() < 0.9,
    catchUpMs: among(5_000, 20_000, 60_000),
    hiddenMs: among(0, 3_000, Number.POSITIVE_INFINITY),
    pace: 1 + (random() - 0.5) * 80e-6,
    systemErrorMs: among(0, 20, -3_000, 3_600_000, -86_400_000),
    lateMs: 0,
    latencyMs: among(null, null, 2_000, 8_000),
  };
}

/** A few things go wrong, at any moment, one over another. */
function planMishaps(
  guest: SimulatedViewer,
  service: MockService,
  random: () => number,
  calmMs: number,
): string[] {
  const names = Object.keys(MISHAPS);
  const planned = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
    name: names[Math.floor(random() * names.length)] as string,
    atMs: Math.floor(calmMs + random() * ROUGH_MS),
    forMs: Math.ceil(random() ** 2 * MISHAP_MS),
  })).sort((a, b) => a.atMs - b.atMs);
  for (const { name, atMs, forMs } of planned) {
    guest.scheduler.after(atMs, () => {
      const end = MISHAPS[name]?.({ guest, service, random, forMs });
      const { nowMs: fromMs } = guest.scheduler;
      if (!HARMLESS.has(name)) guest.outages.push({ fromMs, toMs: fromMs + forMs });
      guest.scheduler.after(forMs, () => end?.());
    });
  }
  return planned.map(({ name, atMs, forMs }) => `at ${atMs} ms for ${forMs} ms: ${name}`);
}

/** When all is well, the winners of two games are who they are. */
function finale({ scheduler, service, viewer, options }: SimulatedViewer, show: Show) {
  const wrong: string[] = [];
  for (const quizMs of [show.stop(), 2_000]) {
    scheduler.advance(quizMs + QUIZ_TOLD_MS);
    const hasWon = show.requestWinners(options.viewerId);
    scheduler.advance(WINNERS_TOLD_MS);
    if (service.winners.has(options.viewerId) !== hasWon) wrong.push(`not a winner: ${!hasWon}`);
    const { winners } = viewer.snapshot;
    if (winners.hasWon !== hasWon) wrong.push(`said to have won: ${winners.hasWon}`);
    if (winners.count !== service.winners.size) wrong.push(`${winners.count} winners`);
    show.ask(2_000);
  }
  return wrong;
}

/** Lets time pass until all is well again, and looks at the viewer's clock meanwhile. */
function watch(guest: SimulatedViewer, calmMs: number): string[] {
  const { viewer, machine, scheduler } = guest;
  const wrong: string[] = [];
  let healedMs = scheduler.nowMs + calmMs + ROUGH_MS + MISHAP_MS;
  const latestMs = healedMs + HEALING_MS;
  for (;;) {
    scheduler.advance(LOOK_MS);
    if (machine.isAsleep) {
      healedMs = Math.max(healedMs, scheduler.nowMs);
      continue;
    }
    guest.lookAtClock();
    const { errorMs } = viewer.clock;
    const offMs = Math.abs(viewer.clock.nowMs() - scheduler.nowMs);
    if (errorMs !== Number.POSITIVE_INFINITY) {
      const unseenMs = machine.wasSetMs > 0 ? UNSEEN_MS : 1;
      if (offMs > errorMs + unseenMs)
        wrong.push(`the clock is off by ${offMs} ms, not by ${errorMs}`);
    }
    if (scheduler.nowMs < healedMs + WELL_MS) continue;
    const wrongNow = wrongAtTheEnd(guest, WELL_MS);
    if (wrongNow.length === 0 || scheduler.nowMs > latestMs) return [...wrong, ...wrongNow];
  }
}
