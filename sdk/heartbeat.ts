import type { Environment } from './environment.ts';
import { toFourbeatError } from './errors.ts';

const HEARTBEAT_MS = 1_000;

/**
 * Sends a heartbeat once a second from a random moment on, however long the responses take. Heartbeats
 * missed during a sleep are skipped. Two are never less than a second apart: a heartbeat that its
 * timer or token delays also delays all later ones.
 */
export class Heartbeat {
  readonly #env: Environment;
  readonly #sendHeartbeat: (onSend: () => void) => Promise<void>;
  readonly #hiddenMs: number;
  #dueMs = 0;
  /** Since when the page is hidden; infinite: it is visible, or there is no page. */
  #hiddenSinceMs = Infinity;
  /** End of the service's `Retry-After`, on the monotonic clock. */
  #notBeforeMs = 0;
  /** Whether a heartbeat waits for its token. */
  #isSending = false;
  #isStopped = false;
  #cancelTimer = () => {};
  #stopWatching = () => {};

  /**
   * @param sendHeartbeat calls `onSend` when the request goes out; errors are ignored except
   *   for `retryAfterMs`
   * @param hiddenMs stops after the page was hidden for this time, until it is visible again
   */
  constructor(
    env: Environment,
    sendHeartbeat: (onSend: () => void) => Promise<void>,
    hiddenMs: number,
  ) {
    this.#env = env;
    this.#sendHeartbeat = sendHeartbeat;
    this.#hiddenMs = hiddenMs;
  }

  start(): void {
    this.#dueMs = this.#env.monotonicMs() + this.#env.random() * HEARTBEAT_MS;
    this.#onVisibilityChange();
    this.#stopWatching =
      this.#env.visibility?.onChange(() => this.#onVisibilityChange()) ?? this.#stopWatching;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#stopWatching();
  }

  #onVisibilityChange(): void {
    this.#hiddenSinceMs = this.#env.visibility?.isHidden() ? this.#env.monotonicMs() : Infinity;
    this.#schedule(this.#dueMs);
  }

  #tick(): void {
    const nowMs = this.#env.monotonicMs();
    if (nowMs - this.#hiddenSinceMs >= this.#hiddenMs) return;
    this.#schedule();
    if (this.#isSending || nowMs < this.#notBeforeMs) return;
    void this.#send();
  }

  #schedule(dueMs = this.#env.monotonicMs() + HEARTBEAT_MS): void {
    this.#dueMs = dueMs;
    this.#cancelTimer();
    this.#cancelTimer = this.#env.after(dueMs - this.#env.monotonicMs(), () => this.#tick());
  }

  async #send(): Promise<void> {
    let isSent = false;
    this.#isSending = true;
    try {
      await this.#sendHeartbeat(() => {
        isSent = true;
        this.#isSending = false;
        // The next heartbeat is a second after this one, however long it waited for its token.
        if (!this.#isStopped) this.#schedule();
      });
    } catch (thrown) {
      this.#notBeforeMs = this.#env.monotonicMs() + (toFourbeatError(thrown).retryAfterMs ?? 0);
    } finally {
      if (!isSent) this.#isSending = false;
    }
  }
}
