import type { PresenterState } from '../../protocol/presenter.ts';
import {
  type ConnectionEnvironment,
  ReconnectingEventStream,
} from '../connection/reconnecting-event-stream.ts';
import { ExternalStore } from '../ui/external-store.ts';
import { type Scene, SceneTimeout, sceneOf } from './scene.ts';
import { ServiceClock } from './service-clock.ts';

export interface DisplaySnapshot {
  /** null: no current state. */
  readonly state: PresenterState | null;
  readonly scene: Scene | null;
  /** Whether the connection is lost. */
  readonly isStale: boolean;
  /** The HTTP status of a refusal before the first state; null: not refused. */
  readonly refusal: number | null;
}

/** Callbacks of one connection. */
export interface DisplayEvents {
  readonly onState: (data: string) => void;
  readonly onRefused: (status: number) => void;
  readonly onClose: () => void;
}

/** The browser functions that DisplayShow uses. */
export interface DisplayEnvironment extends ConnectionEnvironment {
  /** @returns closes the connection */
  readonly open: (events: DisplayEvents) => () => void;
  readonly monotonicMs: () => number;
}

/**
 * A show on a display. No operator is beside a display, so it hides data older than 2 s without a
 * message and recovers by itself (SPEC B-14).
 */
export class DisplayShow extends ExternalStore<DisplaySnapshot> {
  readonly #environment: DisplayEnvironment;
  readonly #stream: ReconnectingEventStream;
  readonly #clock: ServiceClock;
  readonly #sceneTimeout: SceneTimeout;
  #hasState = false;

  /** @param holdMs how long results stay, ms; null: until the next scene */
  constructor(environment: DisplayEnvironment, holdMs: number | null) {
    super({ state: null, scene: null, isStale: false, refusal: null });
    this.#environment = environment;
    this.#clock = new ServiceClock(environment.monotonicMs);
    this.#sceneTimeout = new SceneTimeout(holdMs);
    this.#stream = new ReconnectingEventStream({
      environment,
      open: (received, ended) => this.#open(received, ended),
      onLost: () => this.#change({ state: null, scene: null, isStale: true }),
    });
  }

  /** Connects. @returns disconnects */
  start(): () => void {
    return this.#stream.start();
  }

  /** Updates what depends on the time. */
  tick(): void {
    const { state, scene: before } = this.snapshot;
    if (!state) return;
    const scene = this.#sceneOf(state);
    const isCounting = scene.kind === 'quiz' && scene.remainingMs > 0;
    if (isCounting || scene.kind !== before?.kind) this.#change({ scene });
  }

  #open(received: () => void, ended: (isRefused: boolean) => void): () => void {
    let isRefused = false;
    return this.#environment.open({
      onState: (data) => {
        received();
        this.#hasState = true;
        const state: PresenterState = JSON.parse(data);
        this.#clock.addSample(state.now);
        this.#change({ state, scene: this.#sceneOf(state), isStale: false, refusal: null });
      },
      onRefused: (refusal) => {
        isRefused = true;
        if (!this.#hasState) this.#change({ refusal });
      },
      onClose: () => ended(isRefused),
    });
  }

  #sceneOf(state: PresenterState): Scene {
    return this.#sceneTimeout.apply(
      sceneOf(state, this.#clock.nowMs()),
      this.#environment.monotonicMs(),
    );
  }

  #change(part: Partial<DisplaySnapshot>): void {
    this.update({ ...this.snapshot, ...part });
  }
}
