import { type DemoServer, startServer } from '../../../demo/children.ts';

// One defect for each check of the demo.
const DROPPED_ANSWERS = 3;
const ALTER_AFTER_MS = 5_000;

/**
 * A server behind a proxy that breaks its guarantees: it adds three viewers to each count, changes one
 * interval body, drops one interval, acknowledges answers and winner reports that it discards, and
 * changes purchases.
 */
export async function startSabotagedServer(port: number, data: string): Promise<DemoServer> {
  const server = await startServer(0, data);
  const origin = `http://127.0.0.1:${server.port}`;
  const startMs = performance.now();
  let droppedAnswers = 0;
  let altered = false;
  let dropped = false;
  const proxy = Bun.serve({
    port,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const isAnswer = pathname.endsWith('/answer');
      if (isAnswer && droppedAnswers++ < DROPPED_ANSWERS)
        return new Response(null, { status: 204 });
      if (pathname.endsWith('/record-winner')) return new Response(null, { status: 204 });
      const { method, headers } = request;
      const body = method === 'POST' ? await request.bytes() : null;
      const response = await fetch(origin + pathname + search, { method, headers, body });
      if (!pathname.includes('/events-streams/') || method !== 'GET') return response;
      if (response.headers.get('content-type') === 'text/event-stream') {
        return new Response(
          response.body?.pipeThrough(transformMessages(newDropOnce())) ?? null,
          response,
        );
      }
      const text = falsify(await response.text());
      const isDue = performance.now() - startMs > ALTER_AFTER_MS;
      if (altered || !isDue || !text.includes('"events":[]')) return new Response(text, response);
      altered = true;
      return new Response(text.replace('[]', '[ ]'), response);
    },
  });

  /** Drops one interval between two others of a stream: a viewer cannot miss the first of its stream. */
  function newDropOnce(): (message: string) => string {
    let intervals = 0;
    return (message) => {
      const isInterval = /^data:/m.test(message);
      const isDue = performance.now() - startMs > ALTER_AFTER_MS;
      if (dropped || !isDue || !isInterval || intervals++ === 0) return falsify(message);
      dropped = true;
      return '';
    };
  }

  return {
    port: proxy.port ?? 0,
    exited: server.exited,
    lastError: server.lastError,
    stop: async () => {
      await proxy.stop(true);
      await server.stop();
    },
  };
}

/** Falsifies counts and purchases. */
function falsify(text: string): string {
  return text
    .replace(/"value":(\d+)/, (_, value) => `"value":${Number(value) + 3}`)
    .replace('order 1001', 'order 9999');
}

/** Changes an event stream message by message; an empty result drops the message. */
function transformMessages(
  change: (message: string) => string,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let incomplete = '';
  return new TransformStream({
    transform(chunk, controller) {
      const messages = (incomplete + decoder.decode(chunk, { stream: true })).split('\n\n');
      incomplete = messages.pop() ?? '';
      for (const message of messages) {
        const changed = change(message);
        if (changed !== '') controller.enqueue(encoder.encode(`${changed}\n\n`));
      }
    },
  });
}
