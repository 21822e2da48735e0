import type { ChatSource } from '../../domains/chat/chat.ts';
import { type CountEvents, countIsDue } from '../presence/view-count-events.ts';
import type { Transient, ViewerChats } from './interval-body.ts';

export interface UnsealedPartsOptions {
  readonly chat: Pick<ChatSource, 'drain'>;
  readonly counts: CountEvents;
  /** Streams whose feed is read at the end of this interval. */
  readonly watched: (interval: number) => Iterable<string>;
}

/**
 * The parts of an interval that live in memory until it is sealed. A sealing may fail and be tried
 * again later: posts that were handed over then come again and are lost to none, while counts are
 * those of the later moment (F-26).
 */
export class TransientBuffer {
  private chats: Map<string, ViewerChats> | null = null;

  constructor(private readonly options: UnsealedPartsOptions) {}

  /** The parts for a sealing of the intervals from `from` to `to`. */
  collect(from: number, to: number): Transient[] {
    const { chat, counts, watched } = this.options;
    this.chats ??= chat.drain();
    const { chats } = this;
    const counted = countIsDue(from, to) ? counts.take(to, watched(to)) : new Map();
    return [...new Set([...counted.keys(), ...chats.keys()])].map((streamId) => ({
      streamId,
      viewCount: counted.get(streamId) ?? null,
      chats: chats.get(streamId) ?? null,
    }));
  }

  /** What was collected last is sealed: none of it comes again. */
  sealed(): void {
    this.chats = null;
    this.options.counts.sealed();
  }
}
