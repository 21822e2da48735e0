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
   * Opens a connection. Call `received` for each event, with `false` for one that does not prove the
   * connection alive, and `ended` when the connection ends, with `isRefused` when the service refused
   * it. Several may be opening: the first event of one closes the others.
   * @returns closes the connection
   */
  readonly open: (
    received: (isProof?: boolean) => void,
    ended: (isRefused?: boolean) => void,
  ) => () => void;
  /** Called when the connection timed out or ended; another attempt follows. */
  readonly onLost: () => void;
}

/** A connection that is open or opening. */
interface Connection {
  /** Counts the openings. */
  readonly number: number;
  close: () => void;
}

/** A connection without an event for this long is lost; the service sends two events a second. */
const TIMEOUT_MS = 1_500;
/** After a suspension, a connection that survived receives an event within this time. */
const WAKE_TIMEOUT_MS = 750;
/**
 * A slow link needs several round trips to open a connection: it has the time of four attempts. Only
 * one has it, beside the newest, because browsers open at most six to a host with HTTP/1.1: with more,
 * three tabs did not recover within 2 s.
 */
const PATIENT_ATTEMPTS = 4;
/** Hosts are few, and their pages must recover within 2 s after an outage. */
const RETRY_MS = 250;
const RETRY_MAX_MS = 1_000;
/** Each refusal counts against the client's IP address (SPEC L-5), which others may share. */
const REFUSED_RETRY_MS = 30_000;

/** Keeps a connection open: detects a loss within 2 s and reconnects. */
export class ReconnectingEventStream {
  readonly #options: ReconnectingEventStreamOptions;
  /** At most two, oldest first; one when connected. */
  #connections: readonly Connection[] = [];
  #openings = 0;
  #attempts = 0;
  #isConnected = false;
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
      this.#keep([]);
    };
  }

  #open(): void {
    const connection: Connection = { number: this.#openings++, close: () => {} };
    const [oldest] = this.#connections;
    const isTooOld = oldest && connection.number - oldest.number >= PATIENT_ATTEMPTS;
    this.#keep(isTooOld ? this.#connections.slice(1) : this.#connections.slice(0, 1));
    this.#connections = [...this.#connections, connection];
    connection.close = this.#options.open(
      (isProof = true) => {
        if (this.#connections.includes(connection)) this.#receive(connection, isProof);
      },
      (isRefused = false) => {
        if (this.#connections.includes(connection)) this.#end(connection, isRefused);
      },
    );
    this.#startTimeout(TIMEOUT_MS);
  }

  #receive(connection: Connection, isProof: boolean): void {
    this.#keep([connection]);
    if (!isProof) return;
    this.#isConnected = true;
    this.#attempts = 0;
    this.#startTimeout(TIMEOUT_MS);
  }

  #end(connection: Connection, isRefused: boolean): void {
    const isNewest = this.#connections.at(-1) === connection;
    // The service refuses the others too.
    this.#keep(isRefused ? [] : this.#connections.filter((other) => other !== connection));
    if (isNewest || isRefused) this.#retryLater(isRefused);
  }

  #startTimeout(timeoutMs: number): void {
    this.#schedule(timeoutMs, () => this.#openAnother());
  }

  #wake(): void {
    if (this.#isConnected) this.#startTimeout(WAKE_TIMEOUT_MS);
    else this.#openAnother();
  }

  #openAnother(): void {
    // One that fell silent is lost; those that are still opening may be of a slow link.
    if (this.#isConnected) this.#keep([]);
    this.#lose();
    this.#open();
  }

  #retryLater(isRefused: boolean): void {
    this.#lose();
    const backoffMs = Math.min(RETRY_MS * 2 ** this.#attempts++, RETRY_MAX_MS);
    const delayMs = isRefused ? REFUSED_RETRY_MS : backoffMs;
    this.#schedule(delayMs * (0.5 + this.#options.environment.random() / 2), () => this.#open());
  }

  #lose(): void {
    this.#isConnected = false;
    this.#options.onLost();
  }

  /** Closes all other connections. */
  #keep(kept: readonly Connection[]): void {
    const closed = this.#connections.filter((connection) => !kept.includes(connection));
    this.#connections = kept;
    for (const { close } of closed) close();
  }

  /** Starts the only timer; replaces a pending one. */
  #schedule(ms: number, callback: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.environment.after(ms, callback);
  }
}
