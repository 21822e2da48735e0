import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';

const BEAT_MS = 1_000;

/**
 * Says once a second that the viewer is here, from a random moment on, however long the answers
 * take. What the machine slept through is passed over. Two beats are never less than a second
 * apart, so one that is late, by its timer or its token, moves all after it.
 */
export class Heartbeat {
  readonly #env: Environment;
  readonly #beat: (onSend: () => void) => Promise<void>;
  readonly #hiddenMs: number;
  #dueMs = 0;
  /** Since when nobody looks at the page; infinite: somebody does, or there is none. */
  #hiddenFromMs = Infinity;
  #notBeforeMs = 0;
  /** Whether a beat is not sent yet: its token is on its way. */
  #isWaiting = false;
  #isStopped = false;
  #callOff = () => {};
  #endWatch = () => {};

  /**
   * @param beat says it, and calls back when that goes out; what it throws is passed over, but for
   *   the service's wish to wait
   * @param hiddenMs after this time out of sight it stops, until somebody looks
   */
  constructor(env: Environment, beat: (onSend: () => void) => Promise<void>, hiddenMs: number) {
    this.#env = env;
    this.#beat = beat;
    this.#hiddenMs = hiddenMs;
  }

  start(): void {
    this.#dueMs = this.#env.monotonicMs() + this.#env.random() * BEAT_MS;
    this.#look();
    this.#endWatch = this.#env.visibility?.onChange(() => this.#look()) ?? this.#endWatch;
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOff();
    this.#endWatch();
  }

  #look(): void {
    const isHidden = this.#env.visibility?.isHidden() ?? false;
    this.#hiddenFromMs = isHidden ? this.#env.monotonicMs() : Infinity;
    this.#callOff();
    this.#callOff = this.#env.after(this.#dueMs - this.#env.monotonicMs(), () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#env.monotonicMs();
    if (nowMs - this.#hiddenFromMs >= this.#hiddenMs) return;
    this.#beatAgain();
    if (this.#isWaiting || nowMs < this.#notBeforeMs) return;
    void this.#send();
  }

  #beatAgain(): void {
    this.#callOff();
    this.#dueMs = this.#env.monotonicMs() + BEAT_MS;
    this.#callOff = this.#env.after(BEAT_MS, () => this.#tick());
  }

  async #send(): Promise<void> {
    let isSent = false;
    this.#isWaiting = true;
    try {
      await this.#beat(() => {
        isSent = true;
        this.#isWaiting = false;
        // The next one is a second after this one, however long it waited.
        if (!this.#isStopped) this.#beatAgain();
      });
    } catch (thrown) {
      this.#notBeforeMs = this.#env.monotonicMs() + (asTrouble(thrown).retryAfterMs ?? 0);
    } finally {
      if (!isSent) this.#isWaiting = false;
    }
  }
}
