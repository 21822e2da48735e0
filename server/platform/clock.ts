/** Where every rule of the service gets its time from. */
export interface Clock {
  /** Service time in whole Unix ms. It never goes back (SPEC K-4). */
  nowMs(): number;
}

/** The clock of a running process, with what an operator needs to know about it. */
export interface ServiceClock extends Clock {
  /**
   * Service time minus system time in whole ms, read now. Near 0 in health; a large value says that
   * the system clock was stepped or the machine slept, and that the service is catching up.
   */
  offsetMs(): number;
}

export interface ClockOptions {
  /** The system clock in Unix ms. It may be stepped, drift or stand still. */
  systemMs: () => number;
  /** A source that only ever runs forward at the pace of real time; its zero does not matter. */
  monotonicMs: () => number;
  /**
   * How far the service time of others is ahead of the system clock, in ms; 0 when it is not, and
   * for a service that is one process. Service time is pulled to theirs.
   */
  leadMs?: () => number;
  /** Service time starts here or later: the end of what the database has sealed. */
  notBeforeMs: number;
  /** Largest correction towards the system clock, as a share of elapsed time; 0 ≤ rate < 1. */
  slewRate?: number;
  /** A larger lead of the system clock, or of the others, is stepped over when it lasts. */
  stepLeadMs?: number;
  /** How long it must last. */
  stepAfterMs?: number;
  /** Called after a step forward, with the ms that service time skipped, so that a log can say so. */
  onStep?: (skippedMs: number) => void;
}

/** A lead of the system clock up to this is only ever slewed away. */
export const STEP_LEAD_MS = 10_000;
/** How long the system clock must keep a larger lead before service time steps to it. */
export const STEP_AFTER_MS = 30_000;
/** A lead that moves by more than this is a clock still being set: the wait starts again. */
const STEADY_MS = 1_000;
/** The most that one reading adds to the wait, so that two readings alone never prove a lead. */
const READING_MS = 1_000;

/**
 * Service time: starts at the later of the system clock and `notBeforeMs`, runs at the pace of the
 * monotonic source, and is pulled towards the system clock by at most `slewRate` of the time elapsed
 * since the last reading (SPEC K-5). So a system clock that is set back changes the pace by 1 % and no more:
 * sealed intervals stay in the past and open quizzes close about when the producer said.
 *
 * With `leadMs` all this is towards the service time of others, wherever that is ahead.
 *
 * There is one exception. A monotonic source may stand still while a machine sleeps (Linux,
 * macOS), and a small computer may get its time from the network minutes after it started. The
 * system clock is then hours ahead and in the right, and slewing would take weeks. When it has been
 * more than `stepLeadMs` ahead (10 s), steadily, over `stepAfterMs` (30 s) of readings, service time
 * steps forward to it. That is safe for the feed, since the intervals in between are sealed empty; quizzes that should have
 * closed in between close at once. There is no step back: a service that is ahead loses 1 % of
 * elapsed time until it is right, and `offsetMs` shows it.
 */
export function createClock({
  systemMs,
  leadMs = () => 0,
  monotonicMs,
  notBeforeMs,
  slewRate = 0.01,
  stepLeadMs = STEP_LEAD_MS,
  stepAfterMs = STEP_AFTER_MS,
  onStep,
}: ClockOptions): ServiceClock {
  const startMs = Math.max(systemMs() + leadMs(), notBeforeMs);
  const monotonicStartMs = monotonicMs();
  // Time run and correction are kept apart from the start: next to 1.7e12 a double has no room for
  // the millionths of a millisecond by which a busy server's readings are corrected.
  let ranMs = 0;
  let correctionMs = 0;
  let lastMs = Math.floor(startMs);
  let waitedMs = 0;
  let waitFromMs = 0;

  /** Whether being behind has lasted; `strayMs` is by how much before any correction. */
  function isProven(behindMs: number, strayMs: number, elapsedMs: number): boolean {
    if (behindMs <= stepLeadMs || Math.abs(strayMs - waitFromMs) > STEADY_MS) {
      waitedMs = 0;
      waitFromMs = strayMs;
      return false;
    }
    waitedMs += Math.min(elapsedMs, READING_MS);
    return waitedMs >= stepAfterMs;
  }

  function nowMs(): number {
    const elapsedMs = monotonicMs() - monotonicStartMs - ranMs;
    ranMs += elapsedMs;
    const strayMs = systemMs() + leadMs() - startMs - ranMs;
    const mostMs = slewRate * elapsedMs;
    correctionMs += Math.min(mostMs, Math.max(-mostMs, strayMs - correctionMs));
    const behindMs = strayMs - correctionMs;
    const isStep = isProven(behindMs, strayMs, elapsedMs);
    if (isStep) {
      correctionMs = strayMs;
      waitedMs = 0;
    }
    lastMs = Math.max(lastMs, Math.floor(startMs + (ranMs + correctionMs)));
    if (isStep) onStep?.(behindMs);
    return lastMs;
  }

  return { nowMs, offsetMs: () => nowMs() - Math.floor(systemMs()) };
}
