import type { PresenterState } from '../../protocol/presenter.ts';
import {
  type ConnectionEnvironment,
  ReconnectingEventStream,
} from '../connection/reconnecting-event-stream.ts';
import { type Scene, SceneTimeout, sceneOf } from './scene.ts';
import { ServiceClock } from './service-clock.ts';

/** What the display shows. */
export interface DisplaySnapshot {
  /** null: no current state. */
  readonly state: PresenterState | null;
  readonly scene: Scene | null;
  /** Whether the connection is lost. */
  readonly isStale: boolean;
  /** The HTTP status of a refusal before the first state; null: not refused. */
  readonly refusal: number | null;
}

/** One connection. */
export interface DisplaySource {
  onState: (data: string) => void;
  onRefused: (status: number) => void;
  onClose: () => void;
  close(): void;
}

/** The browser functions that DisplayShow uses. */
export interface DisplayEnvironment extends ConnectionEnvironment {
  readonly open: () => DisplaySource;
  readonly monotonicMs: () => number;
}

/**
 * A show on a display. Nobody attends a display, so it hides data older than 2 s without a message
 * and recovers by itself (SPEC B-14).
 */
export class DisplayShow {
  readonly #environment: DisplayEnvironment;
  readonly #stream: ReconnectingEventStream;
  readonly #clock: ServiceClock;
  readonly #sceneTimeout: SceneTimeout;
  readonly #listeners = new Set<() => void>();
  #hasState = false;
  #snapshot: DisplaySnapshot = { state: null, scene: null, isStale: false, refusal: null };

  /** @param holdMs how long results stay, ms; null: until the next scene */
  constructor(environment: DisplayEnvironment, holdMs: number | null) {
    this.#environment = environment;
    this.#clock = new ServiceClock(environment.monotonicMs);
    this.#sceneTimeout = new SceneTimeout(holdMs);
    this.#stream = new ReconnectingEventStream({
      environment,
      open: (received, ended) => this.#open(received, ended),
      onLost: () => this.#update({ state: null, scene: null, isStale: true }),
    });
  }

  get snapshot(): DisplaySnapshot {
    return this.#snapshot;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Connects. @returns disconnects */
  start(): () => void {
    return this.#stream.start();
  }

  /** Updates what depends on the time. */
  tick(): void {
    const { state, scene: before } = this.#snapshot;
    if (!state) return;
    const scene = this.#sceneOf(state);
    const isCounting = scene.kind === 'quiz' && scene.remainingMs > 0;
    if (isCounting || scene.kind !== before?.kind) this.#update({ scene });
  }

  #open(received: () => void, ended: (isRefused: boolean) => void): () => void {
    const source = this.#environment.open();
    let isRefused = false;
    source.onState = (data) => {
      received();
      this.#hasState = true;
      const state: PresenterState = JSON.parse(data);
      this.#clock.addSample(state.now);
      this.#update({ state, scene: this.#sceneOf(state), isStale: false, refusal: null });
    };
    source.onRefused = (refusal) => {
      isRefused = true;
      if (!this.#hasState) this.#update({ refusal });
    };
    source.onClose = () => ended(isRefused);
    return () => source.close();
  }

  #sceneOf(state: PresenterState): Scene {
    return this.#sceneTimeout.apply(
      sceneOf(state, this.#clock.nowMs()),
      this.#environment.monotonicMs(),
    );
  }

  #update(part: Partial<DisplaySnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...part };
    for (const listener of this.#listeners) listener();
  }
}
