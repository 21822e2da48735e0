import type { Environment } from './environment.ts';
import type { SeenStream } from './types.ts';

/** Between two looks, more or less. */
const LOOK_MS = 15_000;
/** Who waits for the show, or the service, wants to see it begin; much else is not asked for meanwhile. */
const LOBBY_MS = 5_000;

/**
 * Looks at the stream now and then, until it has ended. The feed does not tell its end: it goes on
 * with the count for whoever reads it (SPEC F-27).
 */
export class StreamWatch {
  readonly #env: Environment;
  readonly #read: () => Promise<SeenStream>;
  readonly #onStream: (stream: SeenStream) => void;
  #isOver = false;
  #lookMs = LOBBY_MS;
  #callOff = () => {};

  /** @param read asks the service */
  constructor(
    env: Environment,
    read: () => Promise<SeenStream>,
    onStream: (stream: SeenStream) => void,
  ) {
    this.#env = env;
    this.#read = read;
    this.#onStream = onStream;
  }

  /** Looks now, and from now on; it may be called again. It is fulfilled in trouble, too. */
  async look(): Promise<void> {
    const stream = await this.#read().catch(() => null);
    if (this.#isOver) return;
    // Somebody may have wanted to look meanwhile.
    this.#callOff();
    if (stream?.status !== 'ENDED') {
      if (stream) this.#lookMs = stream.status === 'CREATED' ? LOBBY_MS : LOOK_MS;
      this.#callOff = this.#env.after(this.#lookMs * (0.75 + this.#env.random() / 2), () =>
        this.look(),
      );
    }
    if (stream) this.#onStream(stream);
  }

  stop(): void {
    this.#isOver = true;
    this.#callOff();
  }
}
