import { Backoff } from './back-off.ts';
import type { Environment } from './environment.ts';
import { FourbeatError, toFourbeatError } from './errors.ts';

/** A measurement of the service's clock. */
interface ClockSample {
  /** Service time minus the monotonic clock. */
  readonly offsetMs: number;
  /** Maximum error of `offsetMs` at the time of sampling. */
  readonly errorMs: number;
  /** When the sample was taken, on the monotonic clock. */
  readonly sampledMs: number;
  /** The system clock minus the monotonic clock at `sampledMs`. */
  readonly systemLeadMs: number;
}

const BURST_SAMPLES = 4;
const BURST_GAP_MS = 250;
const RESAMPLE_MS = 60_000;
const MIN_BACKOFF_MS = 500;
// Short, so that a viewer who joined during an outage soon finds that the service is available.
const MAX_BACKOFF_MS = 5_000;
const WATCH_MS = 1_000;
// A timer this late, or clocks that diverge by CLOCK_STEP_MS: the machine slept, or its clock was set.
const TIMER_LATE_MS = 2_000;
const CLOCK_STEP_MS = 500;
// Minimum time between two calls of `resync` that have an effect: callers repeat it until samples arrive.
const RESYNC_GAP_MS = 5_000;
// Assumed drift between the service's clock and the monotonic clock, ms per ms.
const DRIFT = 50e-6;
// The service reports whole milliseconds.
const ROUNDING_MS = 0.5;
// Rate of a clock that is ahead, until it is correct again.
const SLOWED_RATE = 0.5;

/** Estimates service time by the most precise of several samples, and the monotonic clock in between. */
export class ServiceClock {
  /** Resolves with the first sample. */
  readonly synced: Promise<void>;
  readonly #env: Environment;
  readonly #readTime: () => Promise<number>;
  readonly #backoff: Backoff;
  #onSynced = () => {};
  #sample: ClockSample | null = null;
  /** The last result of `nowMs`, and when it was on the monotonic clock: service time never goes back. */
  #lastNowMs = -Infinity;
  #lastNowAtMs = 0;
  #watchedMs = 0;
  /** Samples left in the current burst; 0: no burst. */
  #samplesLeft = 0;
  #resyncedMs = -Infinity;
  #isStopped = false;
  #cancelSample = () => {};
  #cancelWatch = () => {};

  /** @param readTime reads the service's time, whole Unix ms */
  constructor(env: Environment, readTime: () => Promise<number>) {
    this.#env = env;
    this.#readTime = readTime;
    this.#backoff = new Backoff(env.random, MIN_BACKOFF_MS, MAX_BACKOFF_MS);
    this.synced = new Promise((resolve) => {
      this.#onSynced = resolve;
    });
  }

  /**
   * Service time, Unix ms; before the first sample the system clock. It never goes back: when the
   * estimate turns out to be ahead, it runs at half rate until it is correct.
   */
  nowMs(): number {
    if (!this.#sample) return this.#env.systemMs();
    const atMs = this.#env.monotonicMs();
    const slowedMs = this.#lastNowMs + (atMs - this.#lastNowAtMs) * SLOWED_RATE;
    this.#lastNowMs = Math.max(atMs + this.#sample.offsetMs, slowedMs);
    this.#lastNowAtMs = atMs;
    return this.#lastNowMs;
  }

  /**
   * Maximum error of `nowMs`, ms; infinite before the first sample. After a sleep it includes the
   * length of the sleep until the next sample. Sleeps of under half a second are not detected.
   */
  get errorMs(): number {
    if (!this.#sample) return Infinity;
    const aheadMs = this.nowMs() - this.#lastNowAtMs - this.#sample.offsetMs;
    return this.#errorOf(this.#sample) + aheadMs;
  }

  start(): void {
    this.#watchedMs = this.#env.monotonicMs();
    this.#watch();
    this.#burst();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelSample();
    this.#cancelWatch();
  }

  /** Samples the clock now, as it seems to be wrong; does nothing when called again within 5 s. */
  resync(): void {
    const nowMs = this.#env.monotonicMs();
    if (nowMs - this.#resyncedMs < RESYNC_GAP_MS) return;
    this.#resyncedMs = nowMs;
    this.#burst();
  }

  #burst(): void {
    const isBetweenBursts = this.#samplesLeft === 0;
    this.#samplesLeft = BURST_SAMPLES;
    if (isBetweenBursts) this.#sampleIn(0);
  }

  #sampleIn(ms: number): void {
    this.#cancelSample();
    if (this.#isStopped) return;
    this.#cancelSample = this.#env.after(ms, () => {
      this.#samplesLeft ||= 1;
      void this.#takeSample();
    });
  }

  async #takeSample(): Promise<void> {
    try {
      this.#accept(await this.#read());
      this.#backoff.reset();
      this.#samplesLeft--;
      this.#sampleIn(
        this.#samplesLeft ? BURST_GAP_MS : RESAMPLE_MS * (0.75 + this.#env.random() / 2),
      );
    } catch (thrown) {
      this.#sampleIn(this.#backoff.nextMs(toFourbeatError(thrown)));
    }
  }

  /** The service reads its time between request and response: the error is at most half of that. */
  async #read(): Promise<ClockSample> {
    const sentMs = this.#env.monotonicMs();
    const systemLeadMs = this.#systemLeadMs();
    const serviceMs = await this.#readTime();
    // The machine slept during the request.
    if (this.#clockStepMs(systemLeadMs)) throw new FourbeatError('unavailable', '');
    const sampledMs = this.#env.monotonicMs();
    const halfMs = (sampledMs - sentMs) / 2;
    const offsetMs = serviceMs + ROUNDING_MS - sampledMs + halfMs;
    return { offsetMs, errorMs: halfMs + ROUNDING_MS, sampledMs, systemLeadMs };
  }

  /** Keeps the more precise sample; when the two contradict each other, the new one. */
  #accept(sample: ClockSample): void {
    const current = this.#sample;
    const currentErrorMs = current ? this.#errorOf(current) : Infinity;
    const differenceMs = Math.abs(sample.offsetMs - (current ?? sample).offsetMs);
    const isBetter = sample.errorMs <= currentErrorMs;
    if (isBetter || differenceMs > sample.errorMs + currentErrorMs) this.#sample = sample;
    this.#onSynced();
  }

  #watch(): void {
    const nowMs = this.#env.monotonicMs();
    const isOverdue = nowMs - this.#watchedMs > WATCH_MS + TIMER_LATE_MS;
    if (isOverdue || (this.#sample && this.#clockStepMs(this.#sample.systemLeadMs))) this.#burst();
    this.#watchedMs = nowMs;
    this.#cancelWatch = this.#env.after(WATCH_MS, () => this.#watch());
  }

  #errorOf({ errorMs, sampledMs, systemLeadMs }: ClockSample): number {
    return (
      errorMs + (this.#env.monotonicMs() - sampledMs) * DRIFT + this.#clockStepMs(systemLeadMs)
    );
  }

  #systemLeadMs(): number {
    return this.#env.systemMs() - this.#env.monotonicMs();
  }

  /** By how much the system clock's lead differs from `leadMs`; 0: by less than CLOCK_STEP_MS. */
  #clockStepMs(leadMs: number): number {
    const ms = Math.abs(this.#systemLeadMs() - leadMs);
    return ms > CLOCK_STEP_MS ? ms : 0;
  }
}
