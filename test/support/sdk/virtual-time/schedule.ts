import { type MockService, mockService } from '../../../../sdk/mock/mock-service.ts';
import { Scheduler } from '../../scheduler.ts';
import {
  checkAfterLeaving,
  checkAnswers,
  checkClock,
  checkFeed,
  checkHeartbeats,
  checkRecovered,
  checkRequestRates,
  checkTokens,
} from './checks.ts';
import { FAULTS, HARMLESS } from './faults.ts';
import { SimulatedShow } from './show.ts';
import { SimulatedViewer, type SimulatedViewerOptions } from './simulated-viewer.ts';

const START_MS = 1_760_000_000_000;
/** Faults start within this time. */
const FAULT_WINDOW_MS = 20_000;
const MAX_FAULT_MS = 8_000;
/** In some runs faults start after a calm time, around the renewal and expiry of tokens. */
const LONG_SHOW_PROBABILITY = 0.01;
const MIN_CALM_MS = 420_000;
const CALM_SPREAD_MS = 190_000;
/**
 * The viewer must recover within this time, and stay so for STABLE_MS. Backoffs grow to 15 s, also of
 * requests that depend on others, and polls catch up one second per second.
 */
const RECOVERY_LIMIT_MS = 60_000;
const STABLE_MS = 6_000;
/** Longer than any request takes. */
const AFTER_LEAVING_MS = 6_000;
/** Not a multiple of 250 ms, so that the checks are at different moments of an interval. */
const CHECK_INTERVAL_MS = 730;
/** A smaller step of the system clock is not detected, and may hide a part of a sleep. */
const UNDETECTED_STEP_MS = 501;
/** Probability that a run ends with a check of the winners. */
const FINALE_PROBABILITY = 0.3;
/** Results, or winners, are published within these times. */
const RESULTS_DELAY_MS = 1_000;
const WINNERS_DELAY_MS = 2_500;

export interface ScheduleResult {
  /** Injected faults in order, for the error message. */
  readonly faults: readonly string[];
  /** Violated checks. */
  readonly violations: readonly string[];
}

/** Simulates one viewer under random faults. `random` determines all of it. */
export function runSchedule(random: () => number): ScheduleResult {
  const scheduler = new Scheduler(START_MS + Math.floor(random() * 1_000_000));
  const service = mockService({ now: () => Math.floor(scheduler.nowMs), after: scheduler.after });
  const simulated = new SimulatedViewer(scheduler, service, random, randomViewerOptions(random));
  const show = new SimulatedShow(scheduler, service, random);
  const calmMs = random() < LONG_SHOW_PROBABILITY ? MIN_CALM_MS + random() * CALM_SPREAD_MS : 0;
  const faults = planFaults(simulated, service, random, calmMs);
  const violations = runUntilRecovered(simulated, calmMs);
  const hasFinale = simulated.options.latencyMs === null && random() < FINALE_PROBABILITY;
  if (hasFinale && violations.length === 0) violations.push(...checkFinale(simulated, show));
  simulated.viewer.leave();
  const leftMs = scheduler.nowMs;
  scheduler.advance(AFTER_LEAVING_MS);
  violations.push(
    ...checkFeed(simulated, show.numberedEvents),
    ...checkHeartbeats(simulated),
    ...checkTokens(simulated),
    ...checkRequestRates(simulated),
    ...checkAnswers(simulated),
    ...checkClock(simulated),
    ...checkAfterLeaving(simulated, leftMs),
  );
  return { faults: [JSON.stringify(simulated.options), ...faults], violations };
}

function randomViewerOptions(random: () => number): SimulatedViewerOptions {
  const pick = <T>(...values: T[]) => values[Math.floor(random() * values.length)] as T;
  return {
    viewerId: 'ada',
    transport: pick('auto', 'auto', 'stream', 'poll'),
    canStream: random() < 0.9,
    catchUpMs: pick(5_000, 20_000, 60_000),
    hiddenMs: pick(0, 3_000, Number.POSITIVE_INFINITY),
    clockRate: 1 + (random() - 0.5) * 80e-6,
    systemErrorMs: pick(0, 20, -3_000, 3_600_000, -86_400_000),
    timerDelayMs: 0,
    latencyMs: pick(null, null, 2_000, 8_000),
  };
}

/** Schedules a few faults, which may overlap. */
function planFaults(
  simulated: SimulatedViewer,
  service: MockService,
  random: () => number,
  calmMs: number,
): string[] {
  const names = Object.keys(FAULTS);
  const planned = Array.from({ length: 1 + Math.floor(random() * 5) }, () => ({
    name: names[Math.floor(random() * names.length)] as string,
    atMs: Math.floor(calmMs + random() * FAULT_WINDOW_MS),
    durationMs: Math.ceil(random() ** 2 * MAX_FAULT_MS),
  })).sort((a, b) => a.atMs - b.atMs);
  for (const { name, atMs, durationMs } of planned) {
    simulated.scheduler.after(atMs, () => {
      const end = FAULTS[name]?.({ simulated, service, random, durationMs });
      const { nowMs: fromMs } = simulated.scheduler;
      if (!HARMLESS.has(name)) simulated.outages.push({ fromMs, toMs: fromMs + durationMs });
      simulated.scheduler.after(durationMs, () => end?.());
    });
  }
  return planned.map(({ name, atMs, durationMs }) => `at ${atMs} ms for ${durationMs} ms: ${name}`);
}

/** Checks the winners of two games, after recovery. */
function checkFinale(
  { scheduler, service, viewer, options }: SimulatedViewer,
  show: SimulatedShow,
) {
  const violations: string[] = [];
  for (const quizMs of [show.stop(), 2_000]) {
    scheduler.advance(quizMs + RESULTS_DELAY_MS);
    const hasWon = show.requestWinners(options.viewerId);
    scheduler.advance(WINNERS_DELAY_MS);
    if (service.winners.has(options.viewerId) !== hasWon)
      violations.push(`not a winner: ${!hasWon}`);
    const { winners } = viewer.snapshot;
    if (winners.hasWon !== hasWon) violations.push(`reported to have won: ${winners.hasWon}`);
    if (winners.count !== service.winners.size) violations.push(`${winners.count} winners`);
    show.askQuiz(2_000);
  }
  return violations;
}

/** Runs until the viewer has recovered, and checks its clock meanwhile. */
function runUntilRecovered(simulated: SimulatedViewer, calmMs: number): string[] {
  const { viewer, machine, scheduler } = simulated;
  const violations: string[] = [];
  let faultsEndMs = scheduler.nowMs + calmMs + FAULT_WINDOW_MS + MAX_FAULT_MS;
  const latestMs = faultsEndMs + RECOVERY_LIMIT_MS;
  for (;;) {
    scheduler.advance(CHECK_INTERVAL_MS);
    if (machine.isAsleep) {
      faultsEndMs = Math.max(faultsEndMs, scheduler.nowMs);
      continue;
    }
    simulated.checkClockBackstep();
    const { errorMs } = viewer.clock;
    const offMs = Math.abs(viewer.clock.nowMs() - scheduler.nowMs);
    if (errorMs !== Number.POSITIVE_INFINITY) {
      const toleranceMs = machine.lastSetMs > 0 ? UNDETECTED_STEP_MS : 1;
      if (offMs > errorMs + toleranceMs)
        violations.push(`the clock is wrong by ${offMs} ms, more than ${errorMs}`);
    }
    if (scheduler.nowMs < faultsEndMs + STABLE_MS) continue;
    const openViolations = checkRecovered(simulated, STABLE_MS);
    if (openViolations.length === 0 || scheduler.nowMs > latestMs)
      return [...violations, ...openViolations];
  }
}
