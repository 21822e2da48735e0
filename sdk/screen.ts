import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import type { EventsInterval, Picture } from './types.ts';

export interface ScreenListener {
  /** An interval is on screen. */
  onInterval(interval: EventsInterval): void;
  /** The picture went elsewhere, to this interval: what was on screen has not happened there. */
  onJump(interval: number): void;
}

/** Holds what the feed tells until it is on screen. */
export class Screen {
  constructor(
    readonly env: Environment,
    /** Where intervals come from that the feed did not bring. */
    readonly past: Pick<Calls, 'interval'>,
    readonly listener: ScreenListener,
  ) {}

  /** An interval of the feed; they come in order. */
  push(interval: EventsInterval): void {
    this.listener.onInterval(interval);
  }

  /** Shows what is on this picture; null: shows all as it comes. */
  follow(_picture: Picture | null): void {}

  stop(): void {}
}
