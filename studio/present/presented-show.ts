import type { PresenterState } from '../../protocol/presenter.ts';
import { type LineBrowser, ReconnectingEventStream } from '../line/kept-line.ts';
import { Holding, type Scene, sceneOf } from './scene.ts';
import { ServiceTime } from './service-time.ts';

/** What the wall shows. */
export interface Presented {
  /** null: nothing is known that may be shown. */
  readonly state: PresenterState | null;
  readonly scene: Scene | null;
  /** Whether nothing was heard for too long. */
  readonly isSilent: boolean;
  /** The status with which the service refused a page that never saw the show; null: it did not. */
  readonly refusal: number | null;
}

/** One opened line. */
export interface PresentSource {
  onState: (data: string) => void;
  onRefused: (status: number) => void;
  onEnd: () => void;
  close(): void;
}

/** What it takes of a browser. */
export interface PresentBrowser extends LineBrowser {
  readonly open: () => PresentSource;
  readonly monotonicMs: () => number;
}

/**
 * A show as a wall has it. A wall is in the picture, and nobody stands beside it: what is old goes
 * away within 2 s, nothing is said of it, and it comes back by itself (SPEC B-14).
 */
export class PresentedShow {
  readonly #browser: PresentBrowser;
  readonly #line: ReconnectingEventStream;
  readonly #time: ServiceTime;
  readonly #holding: Holding;
  readonly #listeners = new Set<() => void>();
  #wasHeard = false;
  #presented: Presented = { state: null, scene: null, isSilent: false, refusal: null };

  /** @param holdMs how long results stay; null: until what comes next */
  constructor(browser: PresentBrowser, holdMs: number | null) {
    this.#browser = browser;
    this.#time = new ServiceTime(browser.monotonicMs);
    this.#holding = new Holding(holdMs);
    this.#line = new ReconnectingEventStream({
      browser,
      open: (heard, ended) => this.#open(heard, ended),
      onLost: () => this.#tell({ state: null, scene: null, isSilent: true }),
    });
  }

  get presented(): Presented {
    return this.#presented;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @returns what ends it */
  start(): () => void {
    return this.#line.start();
  }

  /** Time has passed: some of what is shown goes by it. */
  tick(): void {
    const { state, scene: before } = this.#presented;
    if (!state) return;
    const scene = this.#sceneOf(state);
    const isCounting = scene.kind === 'quiz' && scene.remainingMs > 0;
    if (isCounting || scene.kind !== before?.kind) this.#tell({ scene });
  }

  #open(heard: () => void, ended: (isRefused: boolean) => void): () => void {
    const source = this.#browser.open();
    let isRefused = false;
    source.onState = (data) => {
      heard();
      this.#wasHeard = true;
      const state: PresenterState = JSON.parse(data);
      this.#time.hear(state.now);
      this.#tell({ state, scene: this.#sceneOf(state), isSilent: false, refusal: null });
    };
    source.onRefused = (refusal) => {
      isRefused = true;
      if (!this.#wasHeard) this.#tell({ refusal });
    };
    source.onEnd = () => ended(isRefused);
    return () => source.close();
  }

  #sceneOf(state: PresenterState): Scene {
    return this.#holding.of(sceneOf(state, this.#time.nowMs()), this.#browser.monotonicMs());
  }

  #tell(part: Partial<Presented>): void {
    this.#presented = { ...this.#presented, ...part };
    for (const listener of this.#listeners) listener();
  }
}
