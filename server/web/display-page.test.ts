import { describe, expect, test } from 'bun:test';
import { listen } from '../gateway/listen.ts';
import { displayRoutes } from './display-page.ts';

const shared = { corsOrigin: '*', log: { requestId: () => 'request-1', logDefect: () => {} } };
const routes = displayRoutes(shared);
/** Script and style as sent: a wall's machine may be small, and OBS draws pictures beside it. */
const BUDGET_BYTES = 90_000;

/** Asks the page's routes as a server does. */
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
    '[B-14] %s is a page whose parts are all here, and of little weight',
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

  test('[B-6] runs scripts of this service alone, asks nobody else, and is in no frame', () =>
    withServer(async (origin) => {
      const { headers } = await fetch(`${origin}/studio/present/7d2c`);
      const policy = headers.get('content-security-policy');
      for (const part of ["default-src 'none'", "script-src 'self';", "connect-src 'self';"]) {
        expect(policy).toContain(part);
      }
      expect(policy).toContain("frame-ancestors 'none'");
      // The key is in the fragment, which is in no referrer; the rest of the address is in none either.
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }));
});
