import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import type { ChatSource } from './chat.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { chatsOf } from './chat-part.ts';

/**
 * Chat in the memory of this process. A stream takes memory only while posts of it wait for sealing.
 * @param random uniform from 0 to below 1, such as `Math.random`
 */
export function createMemoryChat({ random }: { random: () => number }): ChatSource {
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
    say: (streamId, kind, element) => bufferOf(streamId).add(kind, element),
    hearts: (streamId, count) => bufferOf(streamId).hearts(count),
    drain() {
      const drained = new Map<string, ViewerChats>();
      for (const [streamId, buffer] of buffers) {
        const part = buffer.take();
        if (part) drained.set(streamId, chatsOf(part));
      }
      buffers.clear();
      return drained;
    },
  };
}
