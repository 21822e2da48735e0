import type { Environment } from './environment.ts';
import type { ViewerStream } from './types.ts';

/** Mean time between two polls. */
const POLL_MS = 15_000;
/** The same before the show starts, or before the first success: few other requests are sent then. */
const NOT_STARTED_POLL_MS = 5_000;

/**
 * Polls the stream until it has ended. The feed does not announce the end: it continues with view
 * counts for its readers (SPEC F-27).
 */
export class StreamPoller {
  readonly #env: Environment;
  readonly #read: () => Promise<ViewerStream>;
  readonly #onStream: (stream: ViewerStream) => void;
  #isStopped = false;
  #intervalMs = NOT_STARTED_POLL_MS;
  #cancelTimer = () => {};

  /** @param read reads the stream from the service */
  constructor(
    env: Environment,
    read: () => Promise<ViewerStream>,
    onStream: (stream: ViewerStream) => void,
  ) {
    this.#env = env;
    this.#read = read;
    this.#onStream = onStream;
  }

  /** Polls now and schedules the next poll; may be called at any time. Never rejects. */
  async poll(): Promise<void> {
    const stream = await this.#read().catch(() => null);
    if (this.#isStopped) return;
    // Another call may have scheduled a poll meanwhile.
    this.#cancelTimer();
    if (stream?.status !== 'ENDED') {
      if (stream) this.#intervalMs = stream.status === 'CREATED' ? NOT_STARTED_POLL_MS : POLL_MS;
      this.#cancelTimer = this.#env.after(this.#intervalMs * (0.75 + this.#env.random() / 2), () =>
        this.poll(),
      );
    }
    if (stream) this.#onStream(stream);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }
}
