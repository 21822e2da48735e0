import { OPENING } from '../../http/event-stream.ts';
import type { EventStream } from '../../realtime/feed/event-stream.ts';

/** New states are dropped from this queue size on: about ten states of a large quiz. */
const QUEUE_BYTES_MAX = 64 * 1024;

/**
 * An event stream of states, each of which replaces the one before. While a slow client's queue is
 * full, new states are dropped.
 * @param onEnd called once when the stream has ended for any reason
 */
export function openStateStream(onEnd: () => void): EventStream {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let hasEnded = false;
  const finish = () => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(streamController) {
        controller = streamController;
        controller.enqueue(OPENING);
      },
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES_MAX }),
  );
  return {
    body,
    send: (message) => {
      if (!hasEnded && (controller.desiredSize ?? 0) > 0) controller.enqueue(message);
    },
    end: () => {
      if (hasEnded) return;
      finish();
      controller.close();
    },
  };
}
