import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { type ChatSamples, chatsFromSamples } from './chat-samples.ts';
import type { ChatSource } from './chat-source.ts';
import { limitClients } from './client-limit.ts';

/**
 * Chat in the memory of one process. A stream takes memory only while its posts wait for sealing.
 * @param random uniform from 0 to below 1, such as `Math.random`
 */
export function createMemoryChatSource({ random }: { random: () => number }): ChatSource {
  const buffers = new Map<string, ChatBuffer>();

  function bufferOf(streamId: string): ChatBuffer {
    let buffer = buffers.get(streamId);
    if (!buffer) {
      buffer = new ChatBuffer(random);
      buffers.set(streamId, buffer);
    }
    return buffer;
  }

  return {
    post: (streamId, { kind, element, client }) => bufferOf(streamId).add(kind, element, client),
    hearts: (streamId, count) => bufferOf(streamId).addHearts(count),
    drain() {
      const taken = new Map<string, ChatSamples>();
      for (const [streamId, buffer] of buffers) {
        const samples = buffer.take();
        if (samples) taken.set(streamId, samples);
      }
      buffers.clear();
      return new Map<string, ViewerChats>(
        [...limitClients(taken)].map(([streamId, samples]) => [
          streamId,
          chatsFromSamples(samples),
        ]),
      );
    },
  };
}
