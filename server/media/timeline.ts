/** How far back arrivals are looked at. Longer: less jitter is left. Shorter: drift is followed closer. */
const WINDOW_MS = 60_000;
const BUCKET_MS = 2_000;
const BUCKETS = WINDOW_MS / BUCKET_MS;
/** A segment is moved by this much at most, so that no player sees a gap. */
const MAX_STEP_MS = 1;
/** And by this share of the time since the last one, for segments that are shorter than a second. */
const MAX_STEP_RATIO = 0.001;
/** Below this nothing is moved: it is less than a frame, and a time that stands still is worth more. */
const TOLERANCE_MS = 2;
/** A source that is further off than this for longer than that has another clock now. */
const LOST_MS = 1_000;
const LOST_FOR_MS = 5_000;
/** What a pause between two arrivals counts for at most: a stall is no evidence by itself. */
const MAX_EVIDENCE_MS = 1_000;
/** How many steps are remembered: sound and picture are never minutes apart. */
const STEPS_KEPT = 64;

/** From this source time on, this offset. */
interface Step {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Arrivals that fit the offset on one side only, without one between that did not. */
interface Run {
  readonly sign: 1 | -1;
  readonly leastMs: number;
  readonly lastArrivedMs: number;
  /** For how long they have been coming. */
  readonly evidenceMs: number;
}

/**
 * Maps a source's own time to service time: `service = source + offset`. One for each source, as
 * long as it is connected.
 *
 * Nothing arrives before it was made, so the least (arrival − source) of the last minute is the best
 * estimate of the offset. The offset that is used follows it slowly, in whole milliseconds, and only
 * where a segment starts:
 *
 * - `observe` for all that comes in, with the time at which it came in.
 * - `advance` at the start of each segment, in order, with the source time of its first picture.
 *   The first call takes the estimate as it is then.
 * - `offsetFor` for the fragments of that segment, in all tracks: it depends on the source time alone.
 *   Ask once `advance` was called for the segment that the time is in.
 * - When it `needsNewEpoch`: `reset`, and begin another epoch. For an encoder that is started again
 *   nothing needs to be done; the source is the same.
 */
export class Timeline {
  /** Least (arrival − source) by arrival time. */
  private buckets: { index: number; leastMs: number }[] = [];
  private steps: Step[] = [];
  /** The newest start of a segment. */
  private advancedMs = Number.NEGATIVE_INFINITY;
  private run: Run | null = null;
  /** The last source time that was observed. */
  private observedMs = 0;

  /**
   * @param wrapMs after how long the source's times begin again from 0. What is observed goes on
   *   rising; an encoder that starts after that does not know of it. What `advance` and `offsetFor`
   *   are asked for may therefore be off by whole wraps, and what they say makes up for it.
   */
  constructor(private readonly wrapMs: number | null = null) {}

  /**
   * Something of the source came in. Presentation times may be out of order.
   * @param sourceMs its time by the source's clock
   * @param arrivedMs service time at which its last byte came in
   */
  observe(sourceMs: number, arrivedMs: number): void {
    const differenceMs = arrivedMs - sourceMs;
    if (!Number.isFinite(differenceMs)) return;
    this.observedMs = sourceMs;
    const sign = this.offSide(differenceMs);
    if (sign === null) {
      this.run = null;
      this.note(differenceMs, arrivedMs);
    } else {
      this.run = prolonged(this.run, sign, differenceMs, arrivedMs);
    }
  }

  /**
   * The source has been over a second off, early or late, for over 5 s: its clock jumped, or it was
   * paused. Stays so until `reset`, or until it is on time again.
   */
  needsNewEpoch(): boolean {
    return this.run !== null && this.run.evidenceMs > LOST_FOR_MS;
  }

  /**
   * A segment starts. The offset may change here, by 1 ms at most.
   * @param sourceMs source time of its first picture; one that is not after the last changes nothing
   * @returns the offset from there on, ms
   * @throws Error when nothing was observed yet
   */
  advance(sourceMs: number): number {
    const wrapsMs = this.wrapsMs(sourceMs);
    return Math.round(this.advanceTo(sourceMs + wrapsMs) + wrapsMs);
  }

  /**
   * What to add to this source time to have service time, ms. Before the first `advance` it is the
   * estimate, which can still move freely. A time before the oldest known gets the oldest offset.
   * @throws Error when nothing was observed yet
   */
  offsetFor(sourceMs: number): number {
    const wrapsMs = this.wrapsMs(sourceMs);
    return Math.round(this.offsetAt(sourceMs + wrapsMs) + wrapsMs);
  }

  /**
   * The offset can move freely again, until the next `advance`. If it `needsNewEpoch`, what was
   * observed before it did is forgotten; otherwise it is the same clock, and all still counts.
   */
  reset(): void {
    const { run } = this;
    if (run && this.needsNewEpoch()) {
      this.buckets = [];
      this.note(run.leastMs, run.lastArrivedMs);
    }
    this.steps = [];
    this.advancedMs = Number.NEGATIVE_INFINITY;
    this.run = null;
  }

  private advanceTo(sourceMs: number): number {
    if (sourceMs <= this.advancedMs) return this.offsetAt(sourceMs);
    const last = this.steps.at(-1);
    const estimateMs = this.estimateMs(last?.offsetMs);
    this.advancedMs = sourceMs;
    if (!last) return this.step(sourceMs, Math.round(estimateMs));
    const errorMs = estimateMs - last.offsetMs;
    const most = Math.min(MAX_STEP_MS, (sourceMs - last.fromMs) * MAX_STEP_RATIO);
    if (Math.abs(errorMs) < TOLERANCE_MS || most < MAX_STEP_MS) return last.offsetMs;
    return this.step(sourceMs, last.offsetMs + Math.sign(errorMs) * MAX_STEP_MS);
  }

  private offsetAt(sourceMs: number): number {
    const step = this.steps.findLast(({ fromMs }) => fromMs <= sourceMs) ?? this.steps[0];
    return step?.offsetMs ?? Math.round(this.estimateMs());
  }

  /** What to add to a time of the encoder to have that of the source. */
  private wrapsMs(sourceMs: number): number {
    const { wrapMs } = this;
    return wrapMs === null ? 0 : Math.round((this.observedMs - sourceMs) / wrapMs) * wrapMs;
  }

  /** Which side of the offset this is too far off on; null when it fits, or all fits as yet. */
  private offSide(differenceMs: number): 1 | -1 | null {
    const last = this.steps.at(-1);
    if (!last) return null;
    const errorMs = differenceMs - last.offsetMs;
    if (Math.abs(errorMs) <= LOST_MS) return null;
    return errorMs > 0 ? 1 : -1;
  }

  private note(differenceMs: number, arrivedMs: number): void {
    const newest = this.buckets.at(-1);
    const index = Math.floor(arrivedMs / BUCKET_MS);
    if (newest && index <= newest.index) {
      newest.leastMs = Math.min(newest.leastMs, differenceMs);
      return;
    }
    this.buckets.push({ index, leastMs: differenceMs });
    this.buckets = this.buckets.filter((bucket) => bucket.index > index - BUCKETS);
  }

  private estimateMs(fallback?: number): number {
    if (this.buckets.length === 0) {
      if (fallback !== undefined) return fallback;
      throw new Error('nothing of the source was observed');
    }
    return Math.min(...this.buckets.map(({ leastMs }) => leastMs));
  }

  private step(fromMs: number, offsetMs: number): number {
    this.steps.push({ fromMs, offsetMs });
    if (this.steps.length > STEPS_KEPT) this.steps.shift();
    return offsetMs;
  }
}

function prolonged(run: Run | null, sign: 1 | -1, leastMs: number, arrivedMs: number): Run {
  if (run?.sign !== sign) return { sign, leastMs, lastArrivedMs: arrivedMs, evidenceMs: 0 };
  const pauseMs = Math.max(0, arrivedMs - run.lastArrivedMs);
  return {
    sign,
    leastMs: Math.min(run.leastMs, leastMs),
    lastArrivedMs: arrivedMs,
    evidenceMs: run.evidenceMs + Math.min(pauseMs, MAX_EVIDENCE_MS),
  };
}
