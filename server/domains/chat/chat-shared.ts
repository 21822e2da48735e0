import { Unavailable } from '../../platform/errors.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import type { SharedTransientSource } from '../../realtime/feed/transient-source.ts';
import type { ChatSource } from './chat.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { mergeChats, readNodeChats } from './chat-part.ts';

/** The chat of one node among several: its posts until another node, or Redis, has them. */
export interface SharedChat extends Pick<ChatSource, 'say' | 'hearts'>, SharedTransientSource {}

export interface SharedChatOptions {
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Why no posts can be taken now, or null. */
  readonly unavailable: () => string | null;
  /** Most bytes of one hand-over; streams beyond that go with the next one. */
  readonly bytesMax?: number;
}

const BYTES_MAX = 1024 * 1024;

const encoder = new TextEncoder();

/**
 * Chat of one node. Its memory is bounded however long posts wait: a sample for each stream, and
 * one hand-over.
 */
export function createSharedChat(options: SharedChatOptions): SharedChat {
  const { random, unavailable, bytesMax = BYTES_MAX } = options;
  const buffers = new Map<string, ChatBuffer>();
  let outgoing: { number: number; bytes: Uint8Array; isRepeat: boolean } | null = null;
  let handedOver = 0;

  function bufferOf(streamId: string): ChatBuffer {
    const reason = unavailable();
    if (reason !== null) throw new Unavailable(reason);
    let buffer = buffers.get(streamId);
    if (!buffer) {
      buffer = new ChatBuffer(random);
      buffers.set(streamId, buffer);
    }
    return buffer;
  }

  /** Streams that posted longest ago come first. */
  function taken(): Uint8Array | null {
    const entries: string[] = [];
    let size = 2;
    for (const [streamId, buffer] of buffers) {
      if (size >= bytesMax) break;
      buffers.delete(streamId);
      const part = buffer.take();
      if (!part) continue;
      const entry = JSON.stringify([streamId, part]);
      entries.push(entry);
      size += entry.length;
    }
    return entries.length === 0 ? null : encoder.encode(`[${entries.join(',')}]`);
  }

  return {
    say: (streamId, kind, element) => bufferOf(streamId).add(kind, element),
    hearts: (streamId, count) => bufferOf(streamId).hearts(count),
    nextBatch() {
      if (!outgoing) {
        const bytes = taken();
        if (!bytes) return null;
        outgoing = { number: ++handedOver, bytes, isRepeat: false };
      }
      const { number, bytes, isRepeat } = outgoing;
      outgoing.isRepeat = true;
      return { number, bytes, isRepeat };
    },
    settleBatch(result) {
      if (!outgoing) return;
      if (result === 'rejected') outgoing.isRepeat = false;
      else outgoing = null;
    },
    isEmpty: () => outgoing === null && buffers.size === 0,
    merge: (batches) => chatsOfNodes(batches, random),
  };
}

/** The chats of an interval, of all that nodes handed over for it and that can be read. */
export function chatsOfNodes(
  parts: readonly Uint8Array[],
  random: () => number,
): Map<string, ViewerChats> {
  const heard = parts.flatMap((bytes) => readNodeChats(bytes) ?? []);
  const byStream = Map.groupBy(heard, ([streamId]) => streamId);
  return new Map(
    [...byStream].map(([streamId, entries]) => {
      const chats = mergeChats(
        entries.map(([, part]) => part),
        random,
      );
      return [streamId, chats] as const;
    }),
  );
}
