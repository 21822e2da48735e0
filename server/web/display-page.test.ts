import { describe, expect, test } from 'bun:test';
import { listen } from '../gateway/listen.ts';
import { displayRoutes } from './display-page.ts';

const shared = { corsOrigin: '*', log: { requestId: () => 'request-1', logDefect: () => {} } };
const routes = displayRoutes(shared);
/** Limit for scripts and styles as sent: display machines are small, and OBS renders beside the page. */
const BUDGET_BYTES = 90_000;

/** Runs `use` with a server of the page's routes. */
async function withServer<T>(use: (origin: string) => Promise<T>): Promise<T> {
  const fallback = () => new Response(null, { status: 404 });
  const server = listen({ host: '127.0.0.1', port: 0, routes, fetch: fallback, ...shared });
  try {
    return await use(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.stop();
  }
}

describe('/studio/present/:stream_id', () => {
  test.each(['/studio/present/7d2c', '/studio/present/7d2c/'])(
    '[B-14] the display page %s loads its files, which are small',
    (path) =>
      withServer(async (origin) => {
        const html = await (await fetch(origin + path)).text();
        const parts = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, part]) => part ?? '');
        expect(parts).toHaveLength(2);
        let bytes = 0;
        for (const part of parts) {
          const headers = { 'Accept-Encoding': 'gzip' };
          const response = await fetch(origin + part, { headers, decompress: false });
          expect(response.status).toBe(200);
          bytes += (await response.bytes()).length;
        }
        expect(bytes).toBeWithin(1, BUDGET_BYTES);
      }),
  );

  test('[B-6] the display page runs and calls only this service and cannot be framed', () =>
    withServer(async (origin) => {
      const { headers } = await fetch(`${origin}/studio/present/7d2c`);
      const policy = headers.get('content-security-policy');
      for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self';"]) {
        expect(policy).toContain(part);
      }
      expect(policy).toContain("frame-ancestors 'none'");
      // No referrer at all: fragments are never in one, and the rest of the URL must not be either.
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }));
});
