import type { Calls } from '../calls.ts';
import type { ServiceClock } from '../clock.ts';
import type { Environment } from '../environment.ts';
import type { Trouble } from '../errors.ts';
import type { EventsInterval } from '../types.ts';

export interface FeedOptions {
  /** `auto` streams where the machine can, and polls where nothing comes through. */
  readonly transport: 'auto' | 'stream' | 'poll';
  /** How much that was missed is caught up with, ms; at least 5 s are. */
  readonly catchUpMs: number;
}

export type FeedState = 'live' | 'catching-up' | 'offline';

/** Who hears of the feed. What these throw is theirs to catch. */
export interface FeedListener {
  /** Each interval, in order, once. */
  onInterval(interval: EventsInterval): void;
  /** When it changed. @param trouble why it is `offline` */
  onState(state: FeedState, trouble: Trouble | null): void;
  /** These intervals, both included, are passed over. */
  onGap(from: number, to: number): void;
}

/** The feed of a stream, from about now on. */
export class Feed {
  constructor(
    readonly env: Environment,
    readonly clock: Pick<ServiceClock, 'nowMs' | 'errorMs' | 'synced' | 'look'>,
    readonly calls: Pick<Calls, 'interval' | 'eventStream'>,
    readonly options: FeedOptions,
    readonly listener: FeedListener,
  ) {}

  /** The interval that is told next; 0 before it is known. */
  get next(): number {
    return 0;
  }

  /** Begins as soon as the clock is synced. */
  start(): void {}

  stop(): void {}
}
