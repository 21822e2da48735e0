/** What it takes of a browser. */
export interface LineBrowser {
  /** @returns what calls it off */
  readonly after: (ms: number, then: () => void) => () => void;
  readonly random: () => number;
}

interface KeptLineOptions {
  readonly browser: LineBrowser;
  /**
   * Opens the line. `heard` is a sign of life; `ended`: it will not come back by itself.
   * @returns what closes it
   */
  readonly open: (heard: () => void, ended: () => void) => () => void;
  /** Nothing was heard for too long, or the line has ended; it will be opened again. */
  readonly onLost: () => void;
}

/** The service tells the state twice a second; silence of this length is a line that is lost. */
const SILENT_MS = 1_750;
const AGAIN_MS = 500;
const AGAIN_MAX_MS = 4_000;

/** A line that may be lost: within 2 s that is known, and another one is opened. */
export class KeptLine {
  readonly #options: KeptLineOptions;
  #tries = 0;
  #close = () => {};
  #callOff = () => {};

  constructor(options: KeptLineOptions) {
    this.#options = options;
  }

  /** @returns what ends it */
  start(): () => void {
    this.#open();
    return () => {
      this.#callOff();
      this.#close();
    };
  }

  #open(): void {
    let isOpen = true;
    const close = this.#options.open(
      () => {
        if (!isOpen) return;
        this.#tries = 0;
        this.#wait();
      },
      () => {
        if (isOpen) this.#lose();
      },
    );
    this.#close = () => {
      isOpen = false;
      close();
    };
    this.#wait();
  }

  #wait(): void {
    this.#callOff();
    this.#callOff = this.#options.browser.after(SILENT_MS, () => this.#lose());
  }

  #lose(): void {
    this.#close();
    this.#options.onLost();
    const mostMs = Math.min(AGAIN_MS * 2 ** this.#tries++, AGAIN_MAX_MS);
    const { after, random } = this.#options.browser;
    this.#callOff();
    this.#callOff = after(mostMs * (0.5 + random() / 2), () => this.#open());
  }
}
