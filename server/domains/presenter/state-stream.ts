import type { EventStream } from '../../realtime/feed/event-stream.ts';

const OPENING = new TextEncoder().encode(': fourbeat\n\n');
/** About ten states of a large quiz. */
const WAITING_BYTES = 64 * 1024;

/**
 * An event stream of states, of which the newest alone matters: a reader who does not keep up is
 * sent no more until it took what waits.
 * @param onEnd told when it is over, however it ended
 */
export function openStateStream(onEnd: () => void): EventStream {
  let controller: ReadableStreamDefaultController<Uint8Array>;
  let isOver = false;
  const finish = () => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
        // Lets the client see the headers at once.
        controller.enqueue(OPENING);
      },
      cancel: finish,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }),
  );
  return {
    body,
    send: (message) => {
      if (!isOver && (controller.desiredSize ?? 0) > 0) controller.enqueue(message);
    },
    end: () => {
      if (isOver) return;
      finish();
      controller.close();
    },
  };
}
