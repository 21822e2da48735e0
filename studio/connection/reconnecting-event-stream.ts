/** The environment functions that the connection uses. */
export interface ConnectionEnvironment {
  /** Calls back after `ms`. @returns cancels */
  readonly after: (ms: number, callback: () => void) => () => void;
  readonly random: () => number;
  /**
   * Calls back when the page, the machine or the network may have been suspended.
   * @returns unsubscribes
   */
  readonly onWake: (callback: () => void) => () => void;
}

interface ReconnectingEventStreamOptions {
  readonly environment: ConnectionEnvironment;
  /**
   * Opens a connection. Call `received` for each event that proves the connection alive, and
   * `ended` when the connection ends, with `isRefused` when the service refused it.
   * @returns closes the connection
   */
  readonly open: (received: () => void, ended: (isRefused?: boolean) => void) => () => void;
  /** Called when the connection timed out or ended; another attempt follows. */
  readonly onLost: () => void;
}

/** A connection without an event for this long is lost; the service sends two events a second. */
const TIMEOUT_MS = 1_500;
/** After a suspension, a connection that survived receives an event within this time. */
const WAKE_TIMEOUT_MS = 750;
/** Hosts are few, and their pages must recover within 2 s after an outage. */
const RETRY_MS = 250;
const RETRY_MAX_MS = 1_000;
/** Each refusal counts against the client's IP address (SPEC L-5), which others may share. */
const REFUSED_RETRY_MS = 30_000;

/** Keeps a connection open: detects a loss within 2 s and reconnects. */
export class ReconnectingEventStream {
  readonly #options: ReconnectingEventStreamOptions;
  #attempts = 0;
  /** Whether the current connection has received anything. */
  #isConnected = false;
  #close = () => {};
  #cancelTimer = () => {};

  constructor(options: ReconnectingEventStreamOptions) {
    this.#options = options;
  }

  /** Connects. @returns disconnects */
  start(): () => void {
    const stopListening = this.#options.environment.onWake(() => this.#wake());
    this.#open();
    return () => {
      stopListening();
      this.#cancelTimer();
      this.#close();
    };
  }

  #open(): void {
    let isOpen = true;
    const close = this.#options.open(
      () => {
        if (!isOpen) return;
        this.#isConnected = true;
        this.#attempts = 0;
        this.#startTimeout(TIMEOUT_MS);
      },
      (isRefused = false) => {
        if (isOpen) this.#closeAndRetry(isRefused);
      },
    );
    this.#close = () => {
      isOpen = false;
      close();
    };
    this.#startTimeout(TIMEOUT_MS);
  }

  #startTimeout(timeoutMs: number): void {
    this.#schedule(timeoutMs, () => this.#reopen());
  }

  #wake(): void {
    if (this.#isConnected) this.#startTimeout(WAKE_TIMEOUT_MS);
    else this.#reopen();
  }

  #reopen(): void {
    this.#lose();
    this.#open();
  }

  #closeAndRetry(isRefused: boolean): void {
    this.#lose();
    const backoffMs = Math.min(RETRY_MS * 2 ** this.#attempts++, RETRY_MAX_MS);
    const delayMs = isRefused ? REFUSED_RETRY_MS : backoffMs;
    this.#schedule(delayMs * (0.5 + this.#options.environment.random() / 2), () => this.#open());
  }

  #lose(): void {
    this.#close();
    this.#isConnected = false;
    this.#options.onLost();
  }

  /** Starts the only timer; replaces a pending one. */
  #schedule(ms: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.environment.after(ms, callback);
  }
}
