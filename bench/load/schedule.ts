// The times at which polling viewers send their requests. All periods are equal. A period is a second,
// except where memory is measured.

/** The kinds of requests. */
export const HEARTBEAT = 1;
export const FEED = 2;

export const PERIOD_MS = 1_000;
const READS = 4;
export const REQUESTS_PER_PERIOD = 1 + READS;

/** All requests of a period, ordered by time. */
interface Schedule {
  readonly length: number;
  /** ms from the start of the period, ascending. */
  readonly atMs: Float64Array;
  readonly viewer: Uint32Array;
  readonly kind: Uint8Array;
}

// The fractional parts of multiples of these numbers are evenly distributed, so that requests of any
// number of viewers do not cluster, and heartbeats and reads of a viewer are independent.
const READ_PHASE_STEP = 0.618_033_988_749_894_9;
const HEARTBEAT_PHASE_STEP = 0.414_213_562_373_095;

/** One heartbeat and four reads per viewer and period, with a different phase for each viewer. */
export function scheduleOf(viewers: number, periodMs = PERIOD_MS): Schedule {
  const readEachMs = periodMs / READS;
  const requests = Array.from({ length: viewers }, (_, viewer) => {
    const firstReadMs = ((viewer * READ_PHASE_STEP) % 1) * readEachMs;
    return [
      { atMs: ((viewer * HEARTBEAT_PHASE_STEP) % 1) * periodMs, viewer, kind: HEARTBEAT },
      ...Array.from({ length: READS }, (_, read) => ({
        atMs: firstReadMs + read * readEachMs,
        viewer,
        kind: FEED,
      })),
    ];
  })
    .flat()
    .sort((a, b) => a.atMs - b.atMs);
  return {
    length: requests.length,
    atMs: Float64Array.from(requests, ({ atMs }) => atMs),
    viewer: Uint32Array.from(requests, ({ viewer }) => viewer),
    kind: Uint8Array.from(requests, ({ kind }) => kind),
  };
}
