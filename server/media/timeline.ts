/** Window of arrivals. A longer one filters more jitter; a shorter one follows drift more closely. */
const WINDOW_MS = 60_000;
const BUCKET_MS = 2_000;
const BUCKET_COUNT = WINDOW_MS / BUCKET_MS;
/** The offset changes by this much at most at a segment start, so that players see no gap. */
const STEP_MS_MAX = 1;
/** For segments shorter than a second, also at most this share of the time since the last change. */
const STEP_RATIO_MAX = 0.001;
/** Smaller errors are ignored: less than a frame, and a stable offset is preferable. */
const TOLERANCE_MS = 2;
/** A source that deviates by more than this for one of the following durations has a changed clock. */
const OUTLIER_MS = 1_000;
/** Early: nothing arrives before it was recorded, so the offset is wrong. */
const EARLY_MS_MAX = 5_000;
/** Late: usually a full queue of the network, which holds a few seconds at most and drains again. */
const LATE_MS_MAX = WINDOW_MS;
/** Later than a queue makes it: the source was paused, and its clock with it. */
const PAUSED_LATENESS_MS = 3_000;
const PAUSED_MS_MAX = 20_000;
/**
 * Source time is at most this far ahead of service time: the next encoder starts after the segments that exist. A
 * queue of the network that drains makes a source early by a few seconds.
 */
const LEAD_MS_MAX = 10_000;
/** Before the first segment, since the first arrival: a relay begins with what it has stored. */
const FIRST_LEAD_MS_MAX = 30_000;
/** A pause between two arrivals adds this much evidence at most: a stall alone is no evidence. */
const EVIDENCE_STEP_MS_MAX = 1_000;
/** Number of remembered offsets: audio and video are never minutes apart. */
const STEPS_MAX = 64;

/** An offset that applies from a source time on. */
interface Step {
  readonly fromMs: number;
  readonly offsetMs: number;
}

/** Consecutive arrivals that deviate from the offset to the same side. */
interface OutlierRun {
  readonly sign: 1 | -1;
  readonly minDifferenceMs: number;
  readonly lastArrivedMs: number;
  /** Duration of the run, ms; each pause counts as `EVIDENCE_STEP_MS_MAX` at most. */
  readonly evidenceMs: number;
}

/**
 * Maps the time of a source to service time: `service = source + offset`. One for each connection of
 * a source.
 *
 * Nothing arrives before it was recorded, so the minimum of (arrival − source) over the last minute
 * is the best estimate of the offset. The offset in use follows the estimate slowly, in whole ms, and
 * only where a segment starts:
 *
 * - Call `observe` for everything that arrives.
 * - Call `advance` at the start of each segment, in order, with the source time of its first frame.
 *   The first call adopts the estimate.
 * - Call `offsetFor` for all fragments of that segment, after `advance`. It depends on the source
 *   time alone.
 * - When `needsNewEpoch` returns true, call `reset` and start a new epoch. A restarted encoder needs
 *   nothing, because the source is the same.
 */
export class Timeline {
  /** Minimum of (arrival − source) by arrival time. */
  private buckets: { index: number; minimumMs: number }[] = [];
  private steps: Step[] = [];
  /** Source time of the newest segment start, ms. */
  private lastAdvancedMs = Number.NEGATIVE_INFINITY;
  private outlierRun: OutlierRun | null = null;
  private lastObservedMs = 0;
  /** Arrival − source of the first arrival; null before it. */
  private firstDifferenceMs: number | null = null;

  /**
   * @param wrapMs period after which the source's timestamps wrap to 0. Observed times are unwrapped;
   *   an encoder that starts after a wrap does not know of it. `advance` and `offsetFor` therefore
   *   accept times that are off by whole periods, and correct the offset.
   */
  constructor(private readonly wrapMs: number | null = null) {}

  /**
   * Records an arrival. Presentation times may be out of order.
   * @param sourceMs timestamp by the source's clock
   * @param arrivedMs service time at which the last byte arrived
   */
  observe(sourceMs: number, arrivedMs: number): void {
    const differenceMs = arrivedMs - sourceMs;
    if (!Number.isFinite(differenceMs)) return;
    this.lastObservedMs = sourceMs;
    this.firstDifferenceMs ??= differenceMs;
    const sign = this.outlierSide(differenceMs);
    if (sign === null) {
      this.outlierRun = null;
      this.addSample(differenceMs, arrivedMs);
    } else {
      this.outlierRun = extendRun(this.outlierRun, sign, differenceMs, arrivedMs);
    }
  }

  /**
   * Whether the source has a changed clock: it has been more than a second early for 5 s or late for a
   * minute, or three seconds late for 20 s. Holds until `reset`, or until it is on time again.
   */
  needsNewEpoch(): boolean {
    const { outlierRun } = this;
    return outlierRun !== null && outlierRun.evidenceMs > this.maxOutlierMs(outlierRun);
  }

  /**
   * Starts a segment. The offset may change here, by 1 ms at most.
   * @param sourceMs source time of its first frame; a time not after the last one changes nothing
   * @returns the offset from there on, ms
   * @throws Error before the first observation
   */
  advance(sourceMs: number): number {
    const wrapOffsetMs = this.wrapOffsetMs(sourceMs);
    return Math.round(this.advanceTo(sourceMs + wrapOffsetMs) + wrapOffsetMs);
  }

  /**
   * The offset at a source time, ms. Before the first `advance` it is the estimate, which may still
   * change freely. A time before the oldest remembered step gets the oldest offset.
   * @throws Error before the first observation
   */
  offsetFor(sourceMs: number): number {
    const wrapOffsetMs = this.wrapOffsetMs(sourceMs);
    return Math.round(this.offsetAt(sourceMs + wrapOffsetMs) + wrapOffsetMs);
  }

  /** Whether a source time is too far ahead of service time: the source does not send in real time. */
  isFarAhead(sourceMs: number, nowMs: number): boolean {
    if (this.steps.length > 0) return sourceMs + this.offsetFor(sourceMs) - nowMs > LEAD_MS_MAX;
    if (this.firstDifferenceMs === null) return false;
    const unwrappedMs = sourceMs + this.wrapOffsetMs(sourceMs);
    return unwrappedMs + this.firstDifferenceMs - nowMs > FIRST_LEAD_MS_MAX;
  }

  /**
   * Lets the offset change freely until the next `advance`. If `needsNewEpoch`, drops the observations
   * of the old clock.
   */
  reset(): void {
    const { outlierRun } = this;
    if (outlierRun && this.needsNewEpoch()) {
      this.buckets = [];
      this.addSample(outlierRun.minDifferenceMs, outlierRun.lastArrivedMs);
    }
    this.steps = [];
    this.firstDifferenceMs = null;
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

  /** Difference between unwrapped source time and the encoder's time, ms. */
  private wrapOffsetMs(sourceMs: number): number {
    const { wrapMs } = this;
    return wrapMs === null ? 0 : Math.round((this.lastObservedMs - sourceMs) / wrapMs) * wrapMs;
  }

  /** On which side an arrival deviates too far; null when it does not, or before the first segment. */
  private outlierSide(differenceMs: number): 1 | -1 | null {
    const last = this.steps.at(-1);
    if (!last) return null;
    const errorMs = differenceMs - last.offsetMs;
    if (Math.abs(errorMs) <= OUTLIER_MS) return null;
    return errorMs > 0 ? 1 : -1;
  }

  private maxOutlierMs({ sign, minDifferenceMs }: OutlierRun): number {
    if (sign < 0) return EARLY_MS_MAX;
    const latenessMs = minDifferenceMs - (this.steps.at(-1)?.offsetMs ?? minDifferenceMs);
    return latenessMs > PAUSED_LATENESS_MS ? PAUSED_MS_MAX : LATE_MS_MAX;
  }

  private addSample(differenceMs: number, arrivedMs: number): void {
    const newest = this.buckets.at(-1);
    const index = Math.floor(arrivedMs / BUCKET_MS);
    if (newest && index <= newest.index) {
      newest.minimumMs = Math.min(newest.minimumMs, differenceMs);
      return;
    }
    this.buckets.push({ index, minimumMs: differenceMs });
    this.buckets = this.buckets.filter((bucket) => bucket.index > index - BUCKET_COUNT);
  }

  private estimateMs(fallback?: number): number {
    if (this.buckets.length === 0) {
      if (fallback !== undefined) return fallback;
      throw new Error('no source time was observed yet');
    }
    return Math.min(...this.buckets.map(({ minimumMs }) => minimumMs));
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
    lastArrivedMs: Math.max(run.lastArrivedMs, arrivedMs),
    evidenceMs: run.evidenceMs + Math.min(pauseMs, EVIDENCE_STEP_MS_MAX),
  };
}
