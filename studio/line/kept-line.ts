/** What it takes of a browser. */
export interface LineBrowser {
  /** @returns what calls it off */
  readonly after: (ms: number, then: () => void) => () => void;
  readonly random: () => number;
  /** Told when the page, its machine or its network may have slept. @returns what ends it */
  readonly onWake: (then: () => void) => () => void;
}

interface KeptLineOptions {
  readonly browser: LineBrowser;
  /**
   * Opens the line. `heard` is a sign of life; `ended`: it will not come back by itself, and whether
   * the service refused it.
   * @returns what closes it
   */
  readonly open: (heard: () => void, ended: (isRefused?: boolean) => void) => () => void;
  /** Nothing was heard for too long, or the line has ended; it will be opened again. */
  readonly onLost: () => void;
}

/** The service tells the state twice a second; silence of this length is a line that is lost. */
const SILENT_MS = 1_500;
/** One that got through a sleep says so within the time between two states. */
const WAKE_MS = 750;
/** Those who run shows are few, and all of theirs is to be right within 2 s after an outage. */
const AGAIN_MS = 250;
const AGAIN_MAX_MS = 1_000;
/** Refusals count as failures of an address (SPEC L-5), which others may be behind, too. */
const REFUSED_AGAIN_MS = 30_000;

/** A line that may be lost: within 2 s that is known, and another one is opened. */
export class ReconnectingEventStream {
  readonly #options: KeptLineOptions;
  #tries = 0;
  /** Whether the line that is open now was heard. */
  #isHeard = false;
  #close = () => {};
  #callOff = () => {};

  constructor(options: KeptLineOptions) {
    this.#options = options;
  }

  /** @returns what ends it */
  start(): () => void {
    const endWaking = this.#options.browser.onWake(() => this.#wake());
    this.#open();
    return () => {
      endWaking();
      this.#callOff();
      this.#close();
    };
  }

  #open(): void {
    let isOpen = true;
    const close = this.#options.open(
      () => {
        if (!isOpen) return;
        this.#isHeard = true;
        this.#tries = 0;
        this.#wait(SILENT_MS);
      },
      (isRefused = false) => {
        if (isOpen) this.#endAndAgain(isRefused);
      },
    );
    this.#close = () => {
      isOpen = false;
      close();
    };
    this.#wait(SILENT_MS);
  }

  #wait(silentMs: number): void {
    // Who was silent for so long is not asked too often.
    this.#after(silentMs, () => this.#anew());
  }

  #wake(): void {
    if (this.#isHeard) this.#wait(WAKE_MS);
    else this.#anew();
  }

  #anew(): void {
    this.#end();
    this.#open();
  }

  #endAndAgain(isRefused: boolean): void {
    this.#end();
    const nextMs = Math.min(AGAIN_MS * 2 ** this.#tries++, AGAIN_MAX_MS);
    const mostMs = isRefused ? REFUSED_AGAIN_MS : nextMs;
    this.#after(mostMs * (0.5 + this.#options.browser.random() / 2), () => this.#open());
  }

  #end(): void {
    this.#close();
    this.#isHeard = false;
    this.#options.onLost();
  }

  /** The one thing that is waited for. */
  #after(ms: number, then: () => void): void {
    this.#callOff();
    this.#callOff = this.#options.browser.after(ms, then);
  }
}
