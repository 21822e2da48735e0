import os from 'node:os';
import { runtime } from './runtime.ts';

/** Source of the current time for every rule of the service. */
export interface Clock {
  /** Service time in whole Unix ms. It never goes back (SPEC K-4). */
  nowMs(): number;
}

/** The clock of a running process, with its offset for operators. */
export interface ServiceClock extends Clock {
  /**
   * Service time minus system time, in whole ms. Normally near 0. A large value means that the system
   * clock was stepped or the machine slept, and that service time is catching up.
   */
  offsetMs(): number;
}

export interface ClockOptions {
  /** The system clock in Unix ms. It may be stepped, drift or stand still. */
  systemMs: () => number;
  /** A source that only runs forward, at the pace of real time; its zero does not matter. Default: `runtime.monotonicMs`. */
  monotonicMs?: () => number;
  /**
   * Lead of the other nodes' service time over the system clock, in ms; 0 when they do not lead, and
   * for a service of one process. Service time is pulled to theirs.
   */
  leadMs?: () => number;
  /** Service time starts at this time or later: the end of the last sealed interval. */
  notBeforeMs: number;
  /** Largest correction towards the system clock, as a share of elapsed time; 0 ≤ rate < 1. */
  slewRate?: number;
  /** A lag of service time above this is removed by one step, once it has lasted `stepAfterMs`. */
  stepLeadMs?: number;
  stepAfterMs?: number;
  /**
   * How long the machine slept since the start, in ms. While it did not, a lag of more
   * than `DOUBTED_LEAD_MS` is removed only after `DOUBTED_STEP_AFTER_MS`. Default: every lag is believed.
   */
  sleptMs?: () => number;
  /** Called when service time does not follow a lead of the system clock yet, with that lead in ms. */
  onDoubt?: (leadMs: number) => void;
  /** Called after a step forward with the ms that service time skipped, for the log. */
  onStep?: (skippedMs: number) => void;
}

/** A lead of the system clock up to this is only slewed, never stepped. */
export const STEP_LEAD_MS = 10_000;
/** Time that the system clock must keep a larger lead before service time steps to it. */
export const STEP_AFTER_MS = 30_000;
/** A larger lead is doubted: the system clock is more often set wrong by hours than late by them. */
export const DOUBTED_LEAD_MS = 60_000;
/** Time that the system clock must keep a doubted lead: an operator has it to correct the clock. */
export const DOUBTED_STEP_AFTER_MS = 300_000;
/** When a lead changes by more than this, the clock is still being set: the wait starts again. */
const STEADY_LEAD_MS = 1_000;
/** The most that one reading adds to the wait, so that two readings never suffice for a step. */
const READING_MAX_MS = 1_000;

/**
 * Creates the service clock. It starts at the later of the system clock and `notBeforeMs`, runs at the
 * pace of the monotonic source, and is slewed towards the system clock by at most `slewRate` of the
 * time since the last reading (SPEC K-5). A system clock that is set back thus changes the pace by
 * 1 % and nothing else: sealed intervals stay in the past, and open quizzes close about on time.
 *
 * With `leadMs`, the target is the service time of the other nodes wherever that is ahead.
 *
 * One exception: the monotonic source may stand still while a machine sleeps (Linux, macOS), and a
 * small computer may get its time from the network minutes after the start. The system clock is then
 * correct and hours ahead, and slewing would take weeks. When it leads by more than `stepLeadMs`
 * (10 s), steadily, over `stepAfterMs` (30 s) of readings, service time steps forward to it. This is
 * safe for the feed: the intervals in between are sealed empty. Quizzes that should have closed in
 * between close immediately. A lead of more than a minute is followed only after five minutes, unless
 * the machine slept so long: a clock that was 2 h ahead for 30 s made service time run ahead of all
 * tokens for 200 h. There is no step back: a service that is ahead loses 1 % of elapsed time
 * until it is right, and `offsetMs` shows it.
 */
export function createClock({
  systemMs,
  leadMs = () => 0,
  monotonicMs = () => runtime.monotonicMs(),
  notBeforeMs,
  slewRate = 0.01,
  stepLeadMs = STEP_LEAD_MS,
  stepAfterMs = STEP_AFTER_MS,
  sleptMs,
  onDoubt,
  onStep,
}: ClockOptions): ServiceClock {
  const startMs = Math.max(systemMs() + leadMs(), notBeforeMs);
  const monotonicStartMs = monotonicMs();
  // Elapsed time and correction are not added to `startMs`: next to 1.7e12, a double cannot hold the
  // millionths of a millisecond by which a busy server corrects each reading.
  let elapsedTotalMs = 0;
  let correctionMs = 0;
  let lastMs = Math.floor(startMs);
  let waitedMs = 0;
  let waitOffsetMs = 0;
  let doubtedMs = Number.NaN;
  let followedSleepMs = 0;

  /**
   * Whether service time has lagged steadily for long enough to step.
   * @param lagMs target minus service time, with the correction
   * @param offsetMs target minus service time, without the correction
   */
  function isStepDue(lagMs: number, offsetMs: number, elapsedMs: number): boolean {
    if (lagMs <= stepLeadMs || Math.abs(offsetMs - waitOffsetMs) > STEADY_LEAD_MS) {
      waitedMs = 0;
      waitOffsetMs = offsetMs;
      return false;
    }
    waitedMs += Math.min(elapsedMs, READING_MAX_MS);
    if (waitedMs < stepAfterMs) return false;
    return waitedMs >= DOUBTED_STEP_AFTER_MS || !isDoubted(lagMs);
  }

  function isDoubted(lagMs: number): boolean {
    if (
      !sleptMs ||
      lagMs <= DOUBTED_LEAD_MS ||
      sleptMs() - followedSleepMs >= lagMs - DOUBTED_LEAD_MS
    )
      return false;
    if (doubtedMs !== waitOffsetMs) onDoubt?.(lagMs);
    doubtedMs = waitOffsetMs;
    return true;
  }

  function nowMs(): number {
    const elapsedMs = monotonicMs() - monotonicStartMs - elapsedTotalMs;
    elapsedTotalMs += elapsedMs;
    const offsetMs = systemMs() + leadMs() - startMs - elapsedTotalMs;
    const slewMaxMs = slewRate * elapsedMs;
    correctionMs += Math.min(slewMaxMs, Math.max(-slewMaxMs, offsetMs - correctionMs));
    const lagMs = offsetMs - correctionMs;
    const isStep = isStepDue(lagMs, offsetMs, elapsedMs);
    if (isStep) {
      correctionMs = offsetMs;
      waitedMs = 0;
      followedSleepMs = sleptMs?.() ?? 0;
    }
    lastMs = Math.max(lastMs, Math.floor(startMs + (elapsedTotalMs + correctionMs)));
    if (isStep) onStep?.(lagMs);
    return lastMs;
  }

  return { nowMs, offsetMs: () => nowMs() - Math.floor(systemMs()) };
}

/** How long this machine has slept from now on, in ms: the monotonic clock stands still meanwhile. */
export function createSleepMeter(
  uptimeMs = () => os.uptime() * 1_000,
  monotonicMs = () => runtime.monotonicMs(),
): () => number {
  const startMs = uptimeMs() - monotonicMs();
  return () => uptimeMs() - monotonicMs() - startMs;
}
