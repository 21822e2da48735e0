import { describe, expect, test } from 'bun:test';
import { rawExchange } from '../../test/support/conformance/raw-http.ts';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { studioPageRoutes } from './studio-page.ts';
import { typefaceRoutes } from './typeface.ts';

const routes = studioPageRoutes(PAGE_OPTIONS);

const withServer = <T>(use: (origin: string) => Promise<T>) =>
  withPageServer({ ...routes, ...typefaceRoutes(PAGE_OPTIONS) }, use);

describe('/studio/', () => {
  test.each(['/studio', '/studio/', '/studio/team', '/studio/streams/7d2c/on-air/'])(
    '[B-6] the studio page %s loads its files',
    (path) =>
      withServer(async (origin) => {
        const response = await fetch(origin + path);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        const html = await response.text();
        const urls = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, url]) => url ?? '');
        expect(urls).toHaveLength(3);
        for (const url of urls) expect((await fetch(origin + url)).status).toBe(200);
      }),
  );

  test('[B-6] the studio runs only scripts of this service and cannot be framed', () =>
    withServer(async (origin) => {
      const policy = (await fetch(`${origin}/studio/`)).headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
    }));

  test('[Y-11] the studio frames only pages of this service', () =>
    withServer(async (origin) => {
      const policy = (await fetch(`${origin}/studio/`)).headers.get('content-security-policy');
      expect(policy?.split('; ')).toContain("frame-src 'self'");
    }));

  test('[B-6] unknown files and paths of the studio return 404', () =>
    withServer(async (origin) => {
      const names = ['none.js', 'studio.tsx', '..%2Fserver%2Fmain.ts', ''];
      for (const name of names) {
        expect((await fetch(`${origin}/studio/files/${name}`)).status).toBe(404);
      }
      expect((await fetch(`${origin}/studio/elsewhere/a/b`)).status).toBe(404);
    }));

  test('[B-6] a browser at an unknown path gets the page with 404, other clients JSON', () =>
    withServer(async (origin) => {
      const html = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      for (const path of ['/studio/elsewhere', '/studio/a/b/c', '/studio/streams/7d2c/elsewhere']) {
        const page = await fetch(origin + path, { headers: html });
        expect([path, page.status, page.headers.get('etag')]).toEqual([path, 404, null]);
        expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
        expect(await page.text()).toContain('/studio/files/studio.js');
        const head = await fetch(origin + path, { method: 'HEAD', headers: html });
        expect([path, head.status]).toEqual([path, 404]);
        const other = await fetch(origin + path);
        expect([path, other.status, await other.json()]).toMatchObject([
          path,
          404,
          { status: 404 },
        ]);
      }
      for (const path of ['/studio/v1/elsewhere', '/studio/files/none/x', '/studio/present/x/y']) {
        const response = await fetch(origin + path, { headers: html });
        expect([path, response.headers.get('content-type')]).toEqual([path, 'application/json']);
      }
    }));

  test.each([
    'GET PATH HTTP/1.0\r\nAccept: text/html\r\n\r\n',
    'GET PATH HTTP/1.1\r\nHost: 1.2.3.999\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
    'GET PATH HTTP/1.1\r\nHost: x:99999\r\nAccept: text/html\r\nConnection: close\r\n\r\n',
  ])('[G-28] an unknown path of the studio does not need a valid host: %j', (head) =>
    withServer(async (origin) => {
      for (const path of ['/studio/elsewhere', '/studio/v1/elsewhere?/']) {
        const request = head.replace('PATH', path);
        const { status, text } = await rawExchange(origin, [request], { waitMs: 10_000 });
        const isPage = text.includes('/studio/files/studio.js');
        expect([path, status, isPage]).toEqual([path, 404, path === '/studio/elsewhere']);
      }
    }),
  );

  test('the stylesheet of the studio contains utility classes and theme variables', () =>
    withServer(async (origin) => {
      const style = await (await fetch(`${origin}/studio/files/studio.css`)).text();
      expect(style).toContain('.bg-accent');
      expect(style).toContain('--accent:');
    }));
});
