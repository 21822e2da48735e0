import { describe, expect, test } from 'bun:test';
import { rawExchange } from '../../test/support/conformance/raw-http.ts';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { startPageRoutes } from './start-page.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const OPTIONS = {
  version: '1.2.3',
  hasStudio: true,
  readLiveShows: async () => [],
  ...PAGE_OPTIONS,
};
const withServer = <T>(use: (origin: string) => Promise<T>) =>
  withPageServer(startPageRoutes(OPTIONS), use);

function get(url: string, accept: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { headers: { Accept: accept, ...headers }, redirect: 'manual' });
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href ?? '');
}

describe('/', () => {
  test('[O-23] the start page has the version and links to studio and documentation', () =>
    withServer(async (origin) => {
      for (const path of ['', '/']) {
        const response = await get(origin + path, BROWSER);
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        const html = await response.text();
        expect(html).toContain('<title>Fourbeat</title>');
        expect(html).toContain('Version <span id="version">1.2.3</span>');
        expect(linksOf(html)).toEqual(['/studio/', '/docs', '/openapi.json']);
      }
    }));

  test('[O-23] the start page of a process without the studio has no link to it', () =>
    withPageServer(startPageRoutes({ ...OPTIONS, hasStudio: false }), async (origin) => {
      const html = await (await get(origin, BROWSER)).text();
      expect(linksOf(html)).toEqual(['/docs', '/openapi.json']);
      expect(html).not.toContain('Studio');
    }));

  test('[O-23] the start page lists live shows, with their titles as text', () => {
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const readLiveShows = async () => [{ id, title: '<b>Quiz</b> & "friends"' }];
    return withPageServer(startPageRoutes({ ...OPTIONS, readLiveShows }), async (origin) => {
      const html = await (await get(origin, BROWSER)).text();
      expect(linksOf(html)).toEqual([`/watch/${id}`, '/studio/', '/docs', '/openapi.json']);
      expect(html).toContain('<bdi>&lt;b&gt;Quiz&lt;/b&gt; &amp; &quot;friends&quot;</bdi>');
      expect(html).toContain('Live now');
    });
  });

  test('[O-23] the start page without live shows has no list', () =>
    withServer(async (origin) => {
      expect(await (await get(origin, BROWSER)).text()).not.toContain('Live now');
    }));

  test.each([
    'application/json',
    'application/json, text/plain, */*',
    'application/json, text/html',
  ])('[O-23] / redirects a client that accepts %s to /docs, with a text for people', (accept) =>
    withServer(async (origin) => {
      const response = await get(origin, accept);
      expect(response.status).toBe(302);
      expect(response.headers.get('location')).toBe('/docs');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('vary')).toContain('Accept');
      expect(await response.text()).toContain('/docs');
    }),
  );

  test.each(['*/*', 'text/html', 'text/html, application/json;q=0.5'])(
    '[O-23] / shows the start page to a client that accepts %s',
    (accept) =>
      withServer(async (origin) => {
        expect((await get(origin, accept)).status).toBe(200);
      }),
  );

  test('[O-23] the start page loads only its stylesheet, runs nothing and cannot be framed', () =>
    withServer(async (origin) => {
      const response = await get(origin, BROWSER);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script|unsafe|http/);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('referrer-policy')).toBe('same-origin');
      const html = await response.text();
      expect(html).not.toMatch(/<script|<style| style=| on[a-z]+=/);
      const [, stylesheet] = /<link rel="stylesheet" href="([^"]+)">/.exec(html) ?? [];
      const style = await get(`${origin}${stylesheet}`, 'text/css');
      expect(style.headers.get('content-type')).toStartWith('text/css');
      expect(await style.text()).toContain('prefers-color-scheme');
    }));

  test('[O-23] the start page is revalidated every time, with 304 for a matching ETag', () =>
    withServer(async (origin) => {
      const first = await get(origin, BROWSER);
      expect(first.headers.get('cache-control')).toBe('public, no-cache');
      expect(first.headers.get('vary')).toContain('Accept');
      const tag = { 'If-None-Match': first.headers.get('etag') ?? '' };
      expect((await get(origin, BROWSER, tag)).status).toBe(304);
      expect((await get(origin, 'application/json', tag)).status).toBe(302);
    }));

  test.each([
    'GET PATH HTTP/1.0\r\n\r\n',
    'GET PATH HTTP/1.1\r\nHost: 1.2.3.999\r\nConnection: close\r\n\r\n',
    'GET PATH HTTP/1.1\r\nHost: x:99999999\r\nConnection: close\r\n\r\n',
  ])('[G-28] a page and its files do not need a valid host: %j', (head) =>
    withServer(async (origin) => {
      const html = await (await get(origin, BROWSER)).text();
      const [, stylesheet = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(html) ?? [];
      for (const path of ['/', stylesheet]) {
        const { status } = await rawExchange(origin, [head.replace('PATH', path)], {
          waitMs: 10_000,
        });
        expect([path, status]).toEqual([path, 200]);
      }
    }),
  );

  test('[G-10] [G-11] / supports GET, HEAD and OPTIONS', () =>
    withServer(async (origin) => {
      const send = (method: string) => fetch(origin, { method, headers: { Accept: BROWSER } });
      const head = await send('HEAD');
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect((await send('OPTIONS')).status).toBe(204);
      expect((await send('POST')).status).toBe(405);
      expect((await fetch(`${origin}/nowhere`)).status).toBe(404);
    }));
});
