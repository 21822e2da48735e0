import { CHAT_BYTES } from '../../../protocol/limits.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { type ChatSamples, mergeChats, parseNodeChats, serializeChats } from './chat-samples.ts';
import type { SharedChatSource } from './chat-source.ts';
import { limitClients } from './client-limit.ts';

export interface SharedChatSourceOptions {
  /** Uniform from 0 to below 1. */
  readonly random: () => number;
  /** The reason why posts cannot be taken now, or null. */
  readonly unavailableReason: () => string | null;
  /** Size of a batch from which further streams wait for the next batch. */
  readonly bytesMax?: number;
}

const BYTES_MAX = 1024 * 1024;
/** About the size of a stream in a batch, without its messages. */
const STREAM_BYTES = 128;
/** About what a batch has of a message besides the message: its client and two ranks. */
const MESSAGE_BYTES = 52;

const encoder = new TextEncoder();

/**
 * Chat of one node among several. Its memory is bounded however long posts wait: a selection for each
 * stream, and one pending batch.
 */
export function createSharedChatSource(options: SharedChatSourceOptions): SharedChatSource {
  const { random, unavailableReason, bytesMax = BYTES_MAX } = options;
  const buffers = new Map<string, ChatBuffer>();
  let pending: { number: number; bytes: Uint8Array; isRepeat: boolean } | null = null;
  let batchCount = 0;

  function bufferOf(streamId: string): ChatBuffer {
    const reason = unavailableReason();
    if (reason !== null) throw new Unavailable(reason);
    let buffer = buffers.get(streamId);
    if (!buffer) {
      buffer = new ChatBuffer(random);
      buffers.set(streamId, buffer);
    }
    return buffer;
  }

  /** Encodes the posts of streams, those that wait longest first. */
  function encodeBatch(): Uint8Array | null {
    const taken = new Map<string, ChatSamples>();
    // The bytes of a client count up to its limit; `limitClients` drops the rest. Before, one address that
    // posted to 1,000 streams filled the batches and delayed the chat of other streams by 7.5 s.
    const bytesByClient = new Map<number, number>();
    let size = 0;
    let selectedBytes = 0;
    for (const [streamId, buffer] of buffers) {
      // After an outage one client may have filled thousands of buffers.
      if (size >= bytesMax || selectedBytes >= 8 * bytesMax) continue;
      buffers.delete(streamId);
      const samples = buffer.take();
      if (!samples) continue;
      taken.set(streamId, samples);
      size += STREAM_BYTES;
      for (const { bytes, client } of samples.messages) {
        const used = bytesByClient.get(client) ?? 0;
        bytesByClient.set(client, used + bytes);
        selectedBytes += bytes;
        if (used < CHAT_BYTES) size += MESSAGE_BYTES + bytes;
      }
    }
    if (taken.size === 0) return null;
    const entries = [...limitClients(taken)].map(([streamId, samples]) =>
      serializeChats(streamId, samples),
    );
    return encoder.encode(`[${entries.join(',')}]`);
  }

  return {
    post: (streamId, { kind, element, client }) => bufferOf(streamId).add(kind, element, client),
    hearts: (streamId, count) => bufferOf(streamId).addHearts(count),
    nextBatch() {
      if (!pending) {
        const bytes = encodeBatch();
        if (!bytes) return null;
        pending = { number: ++batchCount, bytes, isRepeat: false };
      }
      const { number, bytes, isRepeat } = pending;
      pending.isRepeat = true;
      return { number, bytes, isRepeat };
    },
    settleBatch(result) {
      if (!pending) return;
      if (result === 'rejected') pending.isRepeat = false;
      else pending = null;
    },
    isEmpty: () => pending === null && buffers.size === 0,
    merge: (batches) => mergeNodeChats(batches, random),
  };
}

/** The chats of an interval by stream, from the batches of all nodes. Invalid batches are skipped. */
export function mergeNodeChats(
  batches: readonly Uint8Array[],
  random: () => number,
): Map<string, ViewerChats> {
  const nodeChats = batches.flatMap((bytes) => parseNodeChats(bytes, random) ?? []);
  const byStream = Map.groupBy(nodeChats, ([streamId]) => streamId);
  return new Map(
    [...byStream].map(([streamId, entries]) => {
      const chats = mergeChats(entries.map(([, samples]) => samples));
      return [streamId, chats] as const;
    }),
  );
}
