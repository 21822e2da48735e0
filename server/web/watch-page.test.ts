import { describe, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { watchRoutes } from './watch-page.ts';

const routes = watchRoutes(PAGE_OPTIONS);
/** Limit for what a browser loads before the video, without hls.js. */
const BUDGET_BYTES = 250_000;

const withServer = <T>(use: (origin: string) => Promise<T>) => withPageServer(routes, use);

const plain = { headers: { 'Accept-Encoding': 'identity' } };
const gzipped = { headers: { 'Accept-Encoding': 'gzip, br' }, decompress: false };

describe('/watch/:stream_id', () => {
  test.each(['/watch/7d2c', '/watch/7d2c/'])('the watch page %s loads its files', (path) =>
    withServer(async (origin) => {
      const response = await fetch(origin + path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await response.text();
      const parts = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, part]) => part ?? '');
      expect(parts.length).toBeGreaterThan(1);
      for (const part of parts) expect((await fetch(origin + part)).status).toBe(200);
    }),
  );

  test('the watch page runs only scripts of this service and may be framed by any page', () =>
    withServer(async (origin) => {
      const policy = (await fetch(`${origin}/watch/7d2c`)).headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toContain('worker-src');
      expect(policy).toContain('frame-ancestors *');
    }));

  test('unknown files of the watch page return 404', () =>
    withServer(async (origin) => {
      for (const name of ['none.js', 'watch.tsx', '..%2Fserver%2Fmain.ts', '']) {
        expect((await fetch(`${origin}/player/${name}`)).status).toBe(404);
      }
    }));

  test('files are compressed for clients that accept gzip and revalidated with 304', () =>
    withServer(async (origin) => {
      const url = `${origin}/player/watch.js`;
      const [identity, zipped] = await Promise.all([fetch(url, plain), fetch(url, gzipped)]);
      expect(identity.headers.get('content-encoding')).toBeNull();
      expect(zipped.headers.get('content-encoding')).toBe('gzip');
      expect(zipped.headers.get('vary')).toBe('Accept-Encoding');
      const text = await identity.text();
      expect(gunzipSync(await zipped.bytes()).toString()).toBe(text);
      const tags = [identity, zipped].map(({ headers }) => headers.get('etag') ?? '');
      expect(tags[0]).not.toBe(tags[1]);
      const withoutGzip = { headers: { 'Accept-Encoding': 'gzip;q=0, br' } };
      expect((await fetch(url, withoutGzip)).headers.get('content-encoding')).toBeNull();
      const again = { headers: { ...gzipped.headers, 'If-None-Match': tags[1] ?? '' } };
      expect((await fetch(url, again)).status).toBe(304);
    }));

  test('the watch page is under 250 KB without hls.js, which is loaded lazily', () =>
    withServer(async (origin) => {
      const seen = new Set<string>();
      let bytes = 0;
      const load = async (path: string) => {
        if (seen.has(path)) return;
        seen.add(path);
        bytes += (await (await fetch(origin + path, gzipped)).bytes()).length;
        const text = await (await fetch(origin + path, plain)).text();
        for (const [, next] of text.matchAll(/(?:from|import)\s*"(\/player\/[^"]+)"/g)) {
          if (next) await load(next);
        }
      };
      await load('/player/watch.js');
      await load('/player/watch-page.css');
      expect(bytes).toBeWithin(1, BUDGET_BYTES);
      const script = await (await fetch(`${origin}/player/watch.js`)).text();
      const lazy = [...script.matchAll(/import\("(\/player\/[^"]+)"\)/g)].map(([, path]) => path);
      expect(lazy).toHaveLength(1);
      expect(seen.has(lazy[0] ?? '')).toBe(false);
      expect(await (await fetch(`${origin}${lazy[0]}`)).text()).toContain('EXT-X-');
    }));
});
