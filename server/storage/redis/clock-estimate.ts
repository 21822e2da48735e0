/** One reading of another machine's clock; ours are of a monotonic source. All in ms. */
export interface ClockReading {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** What the other clock said at some moment in between. */
  readonly serverMs: number;
}

/** The other clock is `offsetMs` ahead of the monotonic source, by `errorMs` more or less. */
export interface ClockEstimate {
  readonly offsetMs: number;
  readonly errorMs: number;
}

/** What is known of the other clock: readings that agree with each other, the newest last. */
export type ClockReadings = readonly [ClockReading, ...ClockReading[]];

/** Ms in a ms by which two clocks may drift apart; the kernel slews by no more while it runs NTP. */
const DRIFT = 0.0005;
const KEPT = 16;
/** `TIME` counts microseconds, and Unix ms as a number have steps of a quarter of one. */
const RESOLUTION_MS = 0.002;

/**
 * The estimate of the best reading: that of the least round trip, where an older one has drifted.
 * The reading may be anywhere in its round trip, so that half of it is the error.
 */
export function estimateAt(readings: ClockReadings, nowMs: number): ClockEstimate {
  const [first, ...rest] = readings.map((reading) => estimateOf(reading, nowMs));
  return rest.reduce(
    (best, one) => (one.errorMs <= best.errorMs ? one : best),
    first as ClockEstimate,
  );
}

/**
 * Takes one more reading. One that cannot agree with what is known is of a clock that was stepped,
 * or of another machine after a failover: what was known before is then forgotten.
 * @returns the readings, and by how many ms the clock stepped, or 0
 */
export function withReading(
  readings: ClockReadings,
  reading: ClockReading,
): { readings: ClockReadings; steppedMs: number } {
  const known = estimateAt(readings, reading.receivedMs);
  const fresh = estimateOf(reading, reading.receivedMs);
  const differenceMs = fresh.offsetMs - known.offsetMs;
  if (Math.abs(differenceMs) > known.errorMs + fresh.errorMs) {
    return { readings: [reading], steppedMs: differenceMs };
  }
  const kept = [...readings, reading].slice(-KEPT) as unknown as ClockReadings;
  return { readings: kept, steppedMs: 0 };
}

function estimateOf({ sentMs, receivedMs, serverMs }: ClockReading, nowMs: number): ClockEstimate {
  return {
    offsetMs: serverMs - (sentMs + receivedMs) / 2,
    errorMs: (receivedMs - sentMs) / 2 + RESOLUTION_MS + (nowMs - sentMs) * DRIFT,
  };
}
