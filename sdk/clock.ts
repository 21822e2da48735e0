import { BackOff } from './back-off.ts';
import type { Environment } from './environment.ts';
import { asTrouble, FourbeatError } from './errors.ts';

/** What a sample told: the service's clock is so far ahead of the monotonic one. */
interface Reading {
  readonly offsetMs: number;
  /** How far that was off at most, when it was taken. */
  readonly errorMs: number;
  /** On the monotonic clock. */
  readonly takenMs: number;
  /** How far the system's clock was ahead of the monotonic one. */
  readonly leadMs: number;
}

const BURST = 4;
const BURST_GAP_MS = 250;
const AGAIN_MS = 60_000;
const AGAIN_LEAST_MS = 500;
// It is the first to find that a service is back that was away when the viewer came.
const AGAIN_SOON_MS = 5_000;
const WATCH_MS = 1_000;
// A timer that comes so late, or clocks that come so far apart: the machine slept, or its clock was set.
const LATE_MS = 2_000;
const APART_MS = 500;
// Whoever finds our clock off finds it again until the samples are there.
const LOOK_REST_MS = 5_000;
// Ms in a ms, between the service's clock and ours.
const DRIFT = 50e-6;
// The service tells whole milliseconds.
const ROUNDING_MS = 0.5;
// The pace of a clock that is ahead, until it is right.
const SLOWED = 0.5;

/** Service time on this machine: by the quickest of some samples, and the monotonic clock between. */
export class ServiceClock {
  /** Fulfilled by the first sample. */
  readonly synced: Promise<void>;
  readonly #env: Environment;
  readonly #readTime: () => Promise<number>;
  readonly #backOff: BackOff;
  #onSynced = () => {};
  #reading: Reading | null = null;
  /** What was told last, and when on the monotonic clock: service time never goes back. */
  #toldMs = -Infinity;
  #toldAtMs = 0;
  #watchedMs = 0;
  /** Samples until the next pause; 0 in a pause. */
  #left = 0;
  #lookedMs = -Infinity;
  #isStopped = false;
  #callOffSample = () => {};
  #callOffWatch = () => {};

  /** @param readTime asks the service, whole Unix ms */
  constructor(env: Environment, readTime: () => Promise<number>) {
    this.#env = env;
    this.#readTime = readTime;
    this.#backOff = new BackOff(env.random, AGAIN_LEAST_MS, AGAIN_SOON_MS);
    this.synced = new Promise((resolve) => {
      this.#onSynced = resolve;
    });
  }

  /**
   * Unix ms. Before the first sample it is the system's clock. After it, it never goes back: while it
   * is found to be ahead, it runs at half its pace.
   */
  nowMs(): number {
    if (!this.#reading) return this.#env.systemMs();
    const atMs = this.#env.monotonicMs();
    const slowedMs = this.#toldMs + (atMs - this.#toldAtMs) * SLOWED;
    this.#toldMs = Math.max(atMs + this.#reading.offsetMs, slowedMs);
    this.#toldAtMs = atMs;
    return this.#toldMs;
  }

  /**
   * How far off `nowMs` is at most, ms. Infinite before the first sample; after a sleep it is as much
   * as that may have been, until the next sample. Sleeps of under half a second go unseen.
   */
  get errorMs(): number {
    if (!this.#reading) return Infinity;
    const aheadMs = this.nowMs() - this.#toldAtMs - this.#reading.offsetMs;
    return this.#errorOf(this.#reading) + aheadMs;
  }

  start(): void {
    this.#watchedMs = this.#env.monotonicMs();
    this.#watch();
    this.#burst();
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOffSample();
    this.#callOffWatch();
  }

  /** The clock seems to be off: it is sampled at once, unless it has just been. */
  look(): void {
    const nowMs = this.#env.monotonicMs();
    if (nowMs - this.#lookedMs < LOOK_REST_MS) return;
    this.#lookedMs = nowMs;
    this.#burst();
  }

  #burst(): void {
    const isPaused = this.#left === 0;
    this.#left = BURST;
    if (isPaused) this.#sampleIn(0);
  }

  #sampleIn(ms: number): void {
    this.#callOffSample();
    if (this.#isStopped) return;
    this.#callOffSample = this.#env.after(ms, () => {
      this.#left ||= 1;
      void this.#sample();
    });
  }

  async #sample(): Promise<void> {
    try {
      this.#take(await this.#read());
      this.#backOff.worked();
      this.#left--;
      this.#sampleIn(this.#left ? BURST_GAP_MS : AGAIN_MS * (0.75 + this.#env.random() / 2));
    } catch (thrown) {
      this.#sampleIn(this.#backOff.nextMs(asTrouble(thrown)));
    }
  }

  /** The service's time may be of any moment between question and answer: half of that is the error. */
  async #read(): Promise<Reading> {
    const sentMs = this.#env.monotonicMs();
    const leadMs = this.#leadMs();
    const serviceMs = await this.#readTime();
    if (this.#apartMs(leadMs)) throw new FourbeatError('away', '');
    const takenMs = this.#env.monotonicMs();
    const halfMs = (takenMs - sentMs) / 2;
    const offsetMs = serviceMs + ROUNDING_MS - takenMs + halfMs;
    return { offsetMs, errorMs: halfMs + ROUNDING_MS, takenMs, leadMs };
  }

  /** The better one is kept; when they cannot both be right, the new one. */
  #take(reading: Reading): void {
    const known = this.#reading;
    const knownErrorMs = known ? this.#errorOf(known) : Infinity;
    const differenceMs = Math.abs(reading.offsetMs - (known ?? reading).offsetMs);
    const isBetter = reading.errorMs <= knownErrorMs;
    if (isBetter || differenceMs > reading.errorMs + knownErrorMs) this.#reading = reading;
    this.#onSynced();
  }

  #watch(): void {
    const nowMs = this.#env.monotonicMs();
    const isLate = nowMs - this.#watchedMs > WATCH_MS + LATE_MS;
    if (isLate || (this.#reading && this.#apartMs(this.#reading.leadMs))) this.#burst();
    this.#watchedMs = nowMs;
    this.#callOffWatch = this.#env.after(WATCH_MS, () => this.#watch());
  }

  #errorOf({ errorMs, takenMs, leadMs }: Reading): number {
    return errorMs + (this.#env.monotonicMs() - takenMs) * DRIFT + this.#apartMs(leadMs);
  }

  #leadMs(): number {
    return this.#env.systemMs() - this.#env.monotonicMs();
  }

  /** By how much the machine's clocks came apart since that lead; 0 when it is little. */
  #apartMs(leadMs: number): number {
    const ms = Math.abs(this.#leadMs() - leadMs);
    return ms > APART_MS ? ms : 0;
  }
}
