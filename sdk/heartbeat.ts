import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';

const BEAT_MS = 1_000;
const UNDER_WAY_MAX = 3;

/**
 * Says once a second that the viewer is here, from a random moment on, however long the answers
 * take. What the machine slept through is passed over. Two beats are never less than a second
 * apart, so a timer that comes late moves all after it.
 */
export class Heartbeat {
  readonly #env: Environment;
  readonly #beat: () => Promise<void>;
  readonly #hiddenMs: number;
  #dueMs = 0;
  /** Since when nobody looks at the page; null: somebody does, or there is none. */
  #hiddenFromMs: number | null = null;
  #notBeforeMs = 0;
  #underWay = 0;
  #callOff = () => {};
  #endWatch = () => {};

  /**
   * @param beat says it; what it throws is passed over, but for the service's wish to wait
   * @param hiddenMs after this time out of sight it stops, until somebody looks
   */
  constructor(env: Environment, beat: () => Promise<void>, hiddenMs: number) {
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
    this.#callOff();
    this.#endWatch();
  }

  #look(): void {
    const isHidden = this.#env.visibility?.isHidden() ?? false;
    this.#hiddenFromMs = isHidden ? this.#env.monotonicMs() : null;
    this.#callOff();
    this.#callOff = this.#env.after(this.#dueMs - this.#env.monotonicMs(), () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.#env.monotonicMs();
    if (this.#hiddenFromMs !== null && nowMs - this.#hiddenFromMs >= this.#hiddenMs) return;
    this.#dueMs = nowMs + BEAT_MS;
    this.#callOff = this.#env.after(BEAT_MS, () => this.#tick());
    if (this.#underWay < UNDER_WAY_MAX && nowMs >= this.#notBeforeMs) void this.#send();
  }

  async #send(): Promise<void> {
    this.#underWay++;
    try {
      await this.#beat();
    } catch (thrown) {
      this.#notBeforeMs = this.#env.monotonicMs() + (asTrouble(thrown).retryAfterMs ?? 0);
    } finally {
      this.#underWay--;
    }
  }
}
