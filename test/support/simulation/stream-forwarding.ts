import type { Scheduler } from '../scheduler.ts';

/** The network between a response of a node and its client. */
export interface ForwardingOptions {
  readonly scheduler: Scheduler;
  readonly delayMs: () => number;
  /** Whether data gets through now. */
  readonly isConnected: () => boolean;
  /** Runs a callback on the client's machine. */
  readonly receive: (run: () => void) => void;
  /** Runs a callback on the node's machine. */
  readonly onServer: (run: () => void) => void;
  /** Called with each part that the node sent. */
  readonly onData: (text: string) => void;
  /** Called once when the stream is over. */
  readonly onEnd: () => void;
}

type Sink = ReadableStreamDefaultController<Uint8Array>;

/** Time between attempts to deliver over a network that is down. */
const RETRY_MS = 200;
const decoder = new TextDecoder();

/**
 * Forwards an event stream over a simulated network: parts arrive late and in order, until the stream
 * breaks. Call it on the node's machine.
 */
export function forwardStream(
  body: ReadableStream<Uint8Array>,
  options: ForwardingOptions,
): { stream: ReadableStream<Uint8Array>; breakStream: () => void } {
  const { scheduler, delayMs, isConnected, receive, onServer, onData, onEnd } = options;
  const reader = body.getReader();
  let sink: Sink | null = null;
  let isOver = false;
  let lastMs = 0;
  const close = (finish: (sink: Sink) => void) => {
    if (isOver) return;
    isOver = true;
    onEnd();
    onServer(() => void reader.cancel().catch(() => {}));
    receive(() => {
      if (sink) finish(sink);
    });
  };
  const queue: { readonly arrivesMs: number; readonly deliver: () => void }[] = [];
  const deliverNext = () => {
    const next = queue[0];
    if (!next || isOver) return;
    scheduler.after(Math.max(0, next.arrivesMs - scheduler.nowMs), () => {
      if (isOver) return;
      if (!isConnected()) {
        scheduler.after(RETRY_MS, deliverNext);
        return;
      }
      queue.shift();
      next.deliver();
      deliverNext();
    });
  };
  const send = (deliver: () => void) => {
    lastMs = Math.max(lastMs, scheduler.nowMs + delayMs());
    queue.push({ arrivesMs: lastMs, deliver });
    if (queue.length === 1) deliverNext();
  };
  const forward = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      onData(decoder.decode(value));
      send(() => receive(() => !isOver && sink?.enqueue(value)));
    }
    send(() => close((open) => open.close()));
  };
  const breakStream = () => close((open) => open.error(new TypeError('The connection broke.')));
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => {
      sink = controller;
    },
    cancel: () => {
      sink = null;
      close(() => {});
    },
  });
  forward().catch(() => send(breakStream));
  return { stream, breakStream };
}
