import { countIsDue, type ViewCountEvents } from '../presence/view-count-events.ts';
import type { Transient, ViewerChats } from './interval-body.ts';
import type { TransientSource } from './transient-source.ts';

export interface TransientBufferOptions {
  readonly source: TransientSource;
  readonly counts: ViewCountEvents;
  /** Ids of streams whose feed is read when this interval ends. */
  readonly activeStreams: (interval: number) => Iterable<string>;
}

/**
 * The transient parts of the interval that is being sealed. A sealing may fail and be retried: the
 * retry gets the same posts, so that none is lost, and newer view counts (F-26).
 */
export class TransientBuffer {
  private chats: Map<string, ViewerChats> | null = null;

  constructor(private readonly options: TransientBufferOptions) {}

  /** Returns the parts for a sealing of the intervals from `from` to `to`. */
  collect(from: number, to: number): Transient[] {
    const { source, counts, activeStreams } = this.options;
    this.chats ??= source.drain();
    const { chats } = this;
    const counted = countIsDue(from, to) ? counts.take(to, activeStreams(to)) : new Map();
    return [...new Set([...counted.keys(), ...chats.keys()])].map((streamId) => ({
      streamId,
      viewCount: counted.get(streamId) ?? null,
      chats: chats.get(streamId) ?? null,
    }));
  }

  /** The parts that `collect` returned last are sealed; discards them. */
  markSealed(): void {
    this.chats = null;
    this.options.counts.markSealed();
  }
}
