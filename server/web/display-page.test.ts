import { describe, expect, test } from 'bun:test';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { displayRoutes } from './display-page.ts';
import { typefaceRoutes } from './typeface.ts';

const routes = displayRoutes(PAGE_OPTIONS);
/** Limit for scripts and styles as sent: display machines are small, and OBS renders beside the page. */
const BUDGET_BYTES = 90_000;

const withServer = <T>(use: (origin: string) => Promise<T>) =>
  withPageServer({ ...routes, ...typefaceRoutes(PAGE_OPTIONS) }, use);

describe('/studio/present/:stream_id', () => {
  test.each(['/studio/present/7d2c', '/studio/present/7d2c/'])(
    '[B-14] the display page %s loads its files, which are small',
    (path) =>
      withServer(async (origin) => {
        const html = await (await fetch(origin + path)).text();
        const parts = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, part]) => part ?? '');
        expect(parts).toHaveLength(3);
        let bytes = 0;
        for (const part of parts) {
          const headers = { 'Accept-Encoding': 'gzip' };
          const response = await fetch(origin + part, { headers, decompress: false });
          expect(response.status).toBe(200);
          // The typeface is shared with the other pages, and the display does not wait for it.
          if (!part.endsWith('.woff2')) bytes += (await response.bytes()).length;
        }
        expect(bytes).toBeWithin(1, BUDGET_BYTES);
      }),
  );

  test('[B-6] the display page loads only from this service and cannot be framed', () =>
    withServer(async (origin) => {
      const { headers } = await fetch(`${origin}/studio/present/7d2c`);
      const policy = headers.get('content-security-policy');
      for (const directive of ["default-src 'none'", "script-src 'self';", "connect-src 'self';"]) {
        expect(policy).toContain(directive);
      }
      expect(policy).toContain("frame-ancestors 'none'");
      // No referrer at all: fragments are never in one, and the rest of the URL must not be either.
      expect(headers.get('referrer-policy')).toBe('same-origin');
    }));
});
