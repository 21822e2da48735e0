import { BackOff } from '../back-off.ts';
import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import { asTrouble, FourbeatError } from '../errors.ts';
import type { EventsInterval } from '../types.ts';
import { readEventStream } from './event-stream.ts';
import type { FeedPlace } from './place.ts';

/** The other way in which the feed may come. */
export interface Substitute {
  /** Begins, if it has not: the service answers, but its stream brings nothing. */
  start(): void;
  /** The stream brings something new. */
  stop(): void;
  readonly isWorking: boolean;
}

const WATCH_MS = 500;
// Intervals come 4 a second, empty or not.
const SILENT_MS = 3_000;
const DEAD_MS = 5_000;
// One that ends after this time has done its work: its token is old, or its node stops.
const LASTING_MS = 10_000;
// A crowd that was cut off as one does not come back as one.
const SPREAD_MS = 1_000;
// Where streams bring nothing and polls do, a proxy keeps streams back: so much longer is the wait.
const RARELY = 60;

// How a stream ended that brought something.
const OVER = 1;
const CUT = 2;
type Ending = typeof OVER | typeof CUT;

/** Reads one event stream after another, each from where the last one ended. */
export class Streaming {
  readonly #env: Environment;
  readonly #clock: Pick<ServiceClock, 'nowMs' | 'look'>;
  readonly #calls: Pick<Calls, 'interval' | 'eventStream'>;
  readonly #place: FeedPlace;
  readonly #substitute: Substitute | null;
  readonly #backOff: BackOff;
  #isOver = false;
  #closing = new AbortController();
  #hasNews = false;
  #isDead = false;
  /** When there was news, by the service's clock: others may stand still while the machine sleeps. */
  #newsMs = 0;
  #resume = () => {};
  #callOffPause = () => {};
  #callOffWatch = () => {};

  /** @param substitute null: there is none */
  constructor(
    env: Environment,
    clock: Pick<ServiceClock, 'nowMs' | 'look'>,
    calls: Pick<Calls, 'interval' | 'eventStream'>,
    place: FeedPlace,
    substitute: Substitute | null,
  ) {
    this.#env = env;
    this.#clock = clock;
    this.#calls = calls;
    this.#place = place;
    this.#substitute = substitute;
    this.#backOff = new BackOff(env.random);
  }

  async start(): Promise<void> {
    while (!this.#isOver) {
      const startedMs = this.#env.monotonicMs();
      // Before it was tried: what fails while an outage ends is tried again as ever.
      const wasElsewhere = this.#substitute?.isWorking;
      const ending = await this.#read();
      if (this.#isOver) return;
      const hasLasted = this.#env.monotonicMs() - startedMs >= LASTING_MS;
      const trouble = ending instanceof FourbeatError ? ending : null;
      const waitMs = ending === OVER && hasLasted ? 0 : this.#waitMs(trouble, wasElsewhere);
      await new Promise<void>((resolve) => {
        this.#resume = resolve;
        this.#pause(waitMs);
      });
    }
  }

  /** The service can be reached again: a pause ends soon, unless that was its wish. */
  retry(): void {
    // A whole crowd finds that in the same second.
    if (!this.#backOff.wishMs) this.#pause(this.#env.random() * SPREAD_MS);
  }

  stop(): void {
    this.#isOver = true;
    this.#closing.abort();
    this.#callOffPause();
    this.#callOffWatch();
  }

  #pause(ms: number): void {
    this.#callOffPause();
    const spreadMs = this.#env.random() * SPREAD_MS;
    this.#callOffPause = this.#env.after(ms + spreadMs, this.#resume);
  }

  /** One stream, to its end. @returns how it ended, or what kept it from bringing anything */
  async #read(): Promise<Ending | FourbeatError> {
    this.#closing = new AbortController();
    this.#hasNews = false;
    this.#isDead = false;
    const { signal } = this.#closing;
    const startedMs = this.#env.monotonicMs();
    let ending: Ending = OVER;
    try {
      const { from } = this.#place;
      const { body } = await this.#calls.eventStream(from, signal);
      ending = CUT;
      this.#place.goOnAt(from);
      this.#newsMs = this.#clock.nowMs();
      this.#watch();
      if (body) await readEventStream(body, signal, (data) => this.#onData(data));
      ending = OVER;
    } catch (thrown) {
      // There was no stream.
      if (ending === OVER) return this.#unread(asTrouble(thrown), startedMs);
    }
    this.#callOffWatch();
    if (this.#hasNews && !this.#isDead) return ending;
    if (!this.#isOver) this.#substitute?.start();
    return new FourbeatError('away', 'the feed brings nothing');
  }

  #unread(trouble: FourbeatError, startedMs: number): FourbeatError {
    const isLate = this.#env.monotonicMs() - startedMs >= SILENT_MS;
    // Some proxies keep back even the headers of a stream.
    if (isLate && trouble.status === null && !this.#isOver) this.#substitute?.start();
    return trouble;
  }

  /** How long to wait before the next. @param trouble null: the last one brought something */
  #waitMs(trouble: FourbeatError | null, wasElsewhere?: boolean): number {
    if (trouble && !this.#substitute?.isWorking) this.#place.fail(trouble);
    // Too far ahead is what a clock asks for that is wrong.
    if (trouble?.status === 400) this.#clock.look();
    return this.#backOff.nextMs(trouble) * (wasElsewhere && !this.#hasNews ? RARELY : 1);
  }

  #onData(data: string): void {
    const interval = JSON.parse(data) as EventsInterval;
    if (interval.interval < this.#place.next) return;
    this.#hasNews = true;
    this.#newsMs = this.#clock.nowMs();
    // The machine slept, and the clock knows it by now.
    if (this.#place.isTooOld(interval.interval)) {
      this.#closing.abort();
      return;
    }
    this.#backOff.worked();
    this.#substitute?.stop();
    this.#place.take(interval);
  }

  #watch(): void {
    this.#callOffWatch = this.#env.after(WATCH_MS, () => {
      const silentMs = this.#clock.nowMs() - this.#newsMs;
      if (silentMs >= SILENT_MS) this.#substitute?.start();
      // While nothing comes in the other way either, it is not the stream that is at fault.
      this.#isDead = silentMs >= DEAD_MS && (this.#substitute?.isWorking ?? true);
      if (this.#isDead) this.#closing.abort();
      else this.#watch();
    });
  }
}
