import { type DemoServer, startServer } from '../../../demo/children.ts';

// How a service could be wrong, one thing for each check of the demo.
const SWALLOWED_ANSWERS = 3;
const FAR_MS = 5_000;

/**
 * A server behind a proxy that breaks its promises: it counts three viewers too many, gives one
 * viewer another body and another one gap, and acknowledges answers and winner reports that it
 * throws away, and purchases that it changes.
 */
export async function startSabotagedServer(port: number, data: string): Promise<DemoServer> {
  const server = await startServer(0, data);
  const origin = `http://127.0.0.1:${server.port}`;
  const startMs = performance.now();
  let swallowed = 0;
  let altered = false;
  let dropped = false;
  const proxy = Bun.serve({
    port,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const isAnswer = pathname.endsWith('/answer');
      if (isAnswer && swallowed++ < SWALLOWED_ANSWERS) return new Response(null, { status: 204 });
      if (pathname.endsWith('/record-winner')) return new Response(null, { status: 204 });
      const { method, headers } = request;
      const body = method === 'POST' ? await request.bytes() : null;
      const answer = await fetch(origin + pathname + search, { method, headers, body });
      if (!pathname.includes('/events-streams/') || method !== 'GET') return answer;
      if (answer.headers.get('content-type') === 'text/event-stream') {
        return new Response(answer.body?.pipeThrough(lines(dropOne)) ?? null, answer);
      }
      const text = told(await answer.text());
      const isFar = performance.now() - startMs > FAR_MS;
      if (altered || !isFar || !text.includes('"events":[]')) return new Response(text, answer);
      altered = true;
      return new Response(text.replace('[]', '[ ]'), answer);
    },
  });

  function dropOne(message: string): string {
    const isFar = performance.now() - startMs > FAR_MS;
    if (dropped || !isFar) return told(message);
    dropped = true;
    return '';
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

/** What every viewer is told in place of the truth. */
function told(text: string): string {
  return text
    .replace(/"value":(\d+)/, (_, value) => `"value":${Number(value) + 3}`)
    .replace('order 1001', 'order 9999');
}

/** Event streams, message by message. */
function lines(change: (message: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const messages = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = messages.pop() ?? '';
      for (const message of messages) {
        const changed = change(message);
        if (changed !== '') controller.enqueue(encoder.encode(`${changed}\n\n`));
      }
    },
  });
}
