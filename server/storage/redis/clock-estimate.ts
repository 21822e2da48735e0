/** A reading of another machine's clock. `sentMs` and `receivedMs` are of a local monotonic source. */
export interface ClockReading {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** The other clock at some moment in between, in ms. */
  readonly serverMs: number;
}

/** The other clock is ahead of the monotonic source by `offsetMs` ± `errorMs`. */
export interface ClockEstimate {
  readonly offsetMs: number;
  readonly errorMs: number;
}

/** Readings of the other clock that agree with each other, the newest last. */
export type ClockReadings = readonly [ClockReading, ...ClockReading[]];

/** Maximum drift between two clocks per elapsed ms; the kernel slews by no more under NTP. */
const DRIFT_MAX = 0.0005;
const READINGS_MAX = 16;
/** `TIME` has microseconds, and Unix ms as a double have steps of 0.25 µs. */
const RESOLUTION_MS = 0.002;

/**
 * The estimate with the smallest error: half the round trip, because the clock was read at an unknown
 * moment in it, plus the drift after it.
 */
export function estimateAt(readings: ClockReadings, nowMs: number): ClockEstimate {
  const [first, ...rest] = readings.map((reading) => estimateOf(reading, nowMs));
  return rest.reduce(
    (best, next) => (next.errorMs <= best.errorMs ? next : best),
    first as ClockEstimate,
  );
}

/**
 * Adds a reading. If it contradicts the estimate, the clock was stepped, or a failover changed the
 * machine: the older readings are dropped.
 * @returns the readings, and the step of the clock in ms, or 0
 */
export function addReading(
  readings: ClockReadings,
  reading: ClockReading,
): { readings: ClockReadings; steppedMs: number } {
  const current = estimateAt(readings, reading.receivedMs);
  const fresh = estimateOf(reading, reading.receivedMs);
  const differenceMs = fresh.offsetMs - current.offsetMs;
  if (Math.abs(differenceMs) > current.errorMs + fresh.errorMs) {
    return { readings: [reading], steppedMs: differenceMs };
  }
  const recent = [...readings, reading].slice(-READINGS_MAX) as unknown as ClockReadings;
  return { readings: recent, steppedMs: 0 };
}

function estimateOf({ sentMs, receivedMs, serverMs }: ClockReading, nowMs: number): ClockEstimate {
  return {
    offsetMs: serverMs - (sentMs + receivedMs) / 2,
    errorMs: (receivedMs - sentMs) / 2 + RESOLUTION_MS + (nowMs - sentMs) * DRIFT_MAX,
  };
}
