import { listen } from '../../../server/gateway/listen.ts';
import type { ReadOnlyOptions } from '../../../server/http/read-only-route.ts';
import type { PathHandler } from '../../../server/http/router.ts';

/** The options with which tests create the routes of a page. */
export const PAGE_OPTIONS: ReadOnlyOptions = {
  corsOrigin: '*',
  log: { requestId: () => 'request-1', logDefect: () => {} },
};

/** Runs `use` with the origin of a server that serves these routes. */
export async function withPageServer<T>(
  routes: Record<string, PathHandler>,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const fallback = () => new Response(null, { status: 404 });
  const server = listen({ host: '127.0.0.1', port: 0, routes, fetch: fallback, ...PAGE_OPTIONS });
  try {
    return await use(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop();
  }
}
