/** How far back arrivals are looked at. Longer: less jitter is left. Shorter: drift is followed closer. */
const WINDOW_MS = 60_000;
const BUCKET_MS = 2_000;
const BUCKET_COUNT = WINDOW_MS / BUCKET_MS;
/** A segment is moved by this much at most, so that no player sees a gap. */
const STEP_MS_MAX = 1;
/** And by this share of the time since the last one, for segments that are shorter than a second. */
const STEP_RATIO_MAX = 0.001;
/** Below this nothing is moved: it is less than a frame, and a time that stands still is worth more. */
const TOLERANCE_MS = 2;
/** A source that is further off than this for longer than that has another clock now. */
const OUTLIER_MS = 1_000;
const CLOCK_LOST_MS = 5_000;
/** What a pause between two arrivals counts for at most: a stall is no evidence by itself. */
const EVIDENCE_STEP_MS_MAX = 1_000;
/** How many steps are remembered: sound and picture are never minutes apart. */
const STEPS_MAX = 64;

/** From this source time on, this offset. */
interface Step {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Arrivals that fit the offset on one side only, without one between that did not. */
interface OutlierRun {
  readonly sign: 1 | -1;
  readonly minDifferenceMs: number;
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
  private lastAdvancedMs = Number.NEGATIVE_INFINITY;
  private outlierRun: OutlierRun | null = null;
  /** The last source time that was observed. */
  private lastObservedMs = 0;

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
    this.lastObservedMs = sourceMs;
    const sign = this.outlierSide(differenceMs);
    if (sign === null) {
      this.outlierRun = null;
      this.addSample(differenceMs, arrivedMs);
    } else {
      this.outlierRun = extendRun(this.outlierRun, sign, differenceMs, arrivedMs);
    }
  }

  /**
   * The source has been over a second off, early or late, for over 5 s: its clock jumped, or it was
   * paused. Stays so until `reset`, or until it is on time again.
   */
  needsNewEpoch(): boolean {
    return this.outlierRun !== null && this.outlierRun.evidenceMs > CLOCK_LOST_MS;
  }

  /**
   * A segment starts. The offset may change here, by 1 ms at most.
   * @param sourceMs source time of its first picture; one that is not after the last changes nothing
   * @returns the offset from there on, ms
   * @throws Error when nothing was observed yet
   */
  advance(sourceMs: number): number {
    const wrapOffsetMs = this.wrapOffsetMs(sourceMs);
    return Math.round(this.advanceTo(sourceMs + wrapOffsetMs) + wrapOffsetMs);
  }

  /**
   * What to add to this source time to have service time, ms. Before the first `advance` it is the
   * estimate, which can still move freely. A time before the oldest known gets the oldest offset.
   * @throws Error when nothing was observed yet
   */
  offsetFor(sourceMs: number): number {
    const wrapOffsetMs = this.wrapOffsetMs(sourceMs);
    return Math.round(this.offsetAt(sourceMs + wrapOffsetMs) + wrapOffsetMs);
  }

  /**
   * The offset can move freely again, until the next `advance`. If it `needsNewEpoch`, what was
   * observed before it did is forgotten; otherwise it is the same clock, and all still counts.
   */
  reset(): void {
    const { outlierRun } = this;
    if (outlierRun && this.needsNewEpoch()) {
      this.buckets = [];
      this.addSample(outlierRun.minDifferenceMs, outlierRun.lastArrivedMs);
    }
    this.steps = [];
    this.lastAdvancedMs = Number.NEGATIVE_INFINITY;
    this.outlierRun = null;
  }

  private advanceTo(sourceMs: number): number {
    if (sourceMs <= this.lastAdvancedMs) return this.offsetAt(sourceMs);
    const last = this.steps.at(-1);
    const estimateMs = this.estimateMs(last?.offsetMs);
    this.lastAdvancedMs = sourceMs;
    if (!last) return this.addStep(sourceMs, Math.round(estimateMs));
    const errorMs = estimateMs - last.offsetMs;
    const maxStepMs = Math.min(STEP_MS_MAX, (sourceMs - last.fromMs) * STEP_RATIO_MAX);
    if (Math.abs(errorMs) < TOLERANCE_MS || maxStepMs < STEP_MS_MAX) return last.offsetMs;
    return this.addStep(sourceMs, last.offsetMs + Math.sign(errorMs) * STEP_MS_MAX);
  }

  private offsetAt(sourceMs: number): number {
    const step = this.steps.findLast(({ fromMs }) => fromMs <= sourceMs) ?? this.steps[0];
    return step?.offsetMs ?? Math.round(this.estimateMs());
  }

  /** What to add to a time of the encoder to have that of the source. */
  private wrapOffsetMs(sourceMs: number): number {
    const { wrapMs } = this;
    return wrapMs === null ? 0 : Math.round((this.lastObservedMs - sourceMs) / wrapMs) * wrapMs;
  }

  /** Which side of the offset this is too far off on; null when it fits, or all fits as yet. */
  private outlierSide(differenceMs: number): 1 | -1 | null {
    const last = this.steps.at(-1);
    if (!last) return null;
    const errorMs = differenceMs - last.offsetMs;
    if (Math.abs(errorMs) <= OUTLIER_MS) return null;
    return errorMs > 0 ? 1 : -1;
  }

  private addSample(differenceMs: number, arrivedMs: number): void {
    const newest = this.buckets.at(-1);
    const index = Math.floor(arrivedMs / BUCKET_MS);
    if (newest && index <= newest.index) {
      newest.leastMs = Math.min(newest.leastMs, differenceMs);
      return;
    }
    this.buckets.push({ index, leastMs: differenceMs });
    this.buckets = this.buckets.filter((bucket) => bucket.index > index - BUCKET_COUNT);
  }

  private estimateMs(fallback?: number): number {
    if (this.buckets.length === 0) {
      if (fallback !== undefined) return fallback;
      throw new Error('nothing of the source was observed');
    }
    return Math.min(...this.buckets.map(({ leastMs }) => leastMs));
  }

  private addStep(fromMs: number, offsetMs: number): number {
    this.steps.push({ fromMs, offsetMs });
    if (this.steps.length > STEPS_MAX) this.steps.shift();
    return offsetMs;
  }
}

function extendRun(
  run: OutlierRun | null,
  sign: 1 | -1,
  differenceMs: number,
  arrivedMs: number,
): OutlierRun {
  if (run?.sign !== sign)
    return { sign, minDifferenceMs: differenceMs, lastArrivedMs: arrivedMs, evidenceMs: 0 };
  const pauseMs = Math.max(0, arrivedMs - run.lastArrivedMs);
  return {
    sign,
    minDifferenceMs: Math.min(run.minDifferenceMs, differenceMs),
    lastArrivedMs: arrivedMs,
    evidenceMs: run.evidenceMs + Math.min(pauseMs, EVIDENCE_STEP_MS_MAX),
  };
}
