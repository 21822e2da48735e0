import { test } from 'bun:test';
import { openStateStream } from './state-stream.ts';

// The runtime must end a stream that no client can receive: without that each one would take states forever.
test.each(['GET', 'HEAD'])(
  '[B-5] a stream of states ends when its client disconnected while %s opened it',
  async (method) => {
    const opening = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async ({ signal }) => {
        const disconnected = new Promise((resolve) => signal.addEventListener('abort', resolve));
        opening.resolve();
        await disconnected;
        return new Response(openStateStream(end.resolve).body);
      },
    });
    const client = new AbortController();
    const response = fetch(server.url, { method, signal: client.signal });
    response.catch(() => {});
    await opening.promise;
    client.abort();
    await end.promise;
    await server.stop(true);
  },
);
