import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import type { Stream } from './types.ts';

/** Between two looks, more or less. */
const LOOK_MS = 15_000;
/** A feed that is read tells the count each second (SPEC F-27). */
const QUIET_MS = 3_000;
/** A crowd does not ask at once why it is quiet. */
const QUIET_SPREAD_MS = 5_000;

/** Looks at the stream now and then, until it has ended. */
export class StreamWatch {
  #isLooking = false;
  #isOver = false;
  #callOff = () => {};
  #callOffQuiet = () => {};
  readonly #env: Environment;
  readonly #calls: Pick<Calls, 'stream'>;
  readonly #onStream: (stream: Stream) => void;

  constructor(env: Environment, calls: Pick<Calls, 'stream'>, onStream: (stream: Stream) => void) {
    this.#env = env;
    this.#calls = calls;
    this.#onStream = onStream;
  }

  /** Looks now, and from now on. It is fulfilled in trouble, too. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const stream = await this.#calls.stream().catch(() => null);
    this.#isLooking = false;
    if (this.#isOver) return;
    const ms = LOOK_MS * (0.75 + this.#env.random() / 2);
    this.#callOff();
    this.#callOff = this.#env.after(ms, () => this.look());
    if (stream?.status === 'ENDED') this.stop();
    if (stream) this.#onStream(stream);
  }

  /** The feed has told the count: it is not quiet. */
  heard(): void {
    this.#callOffQuiet();
    if (this.#isOver) return;
    const ms = QUIET_MS + QUIET_SPREAD_MS * this.#env.random();
    this.#callOffQuiet = this.#env.after(ms, () => this.look());
  }

  stop(): void {
    this.#isOver = true;
    this.#callOff();
    this.#callOffQuiet();
  }
}
