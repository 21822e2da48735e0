import { afterEach, describe, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import type { ShownShow } from '../../protocol/show-page.ts';
import { NO_SHOW_PAGE } from '../../protocol/show-page-values.ts';
import { rawExchange, responseOf } from '../../test/support/conformance/raw-http.ts';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { typefaceRoutes } from './typeface.ts';
import { watchRoutes } from './watch-page.ts';

const STREAM_ID = '7d2c1e6e-2a3b-4a39-9a51-0d6e2a9a7e11';
const SHOW: ShownShow = {
  title: 'Quiz & "friends" <b>',
  unlisted: false,
  description: "It's $& on </title>",
  poster_url: 'https://shop.example/poster.jpg?a=1&b=2',
  logo_url: 'https://shop.example/logo.svg',
  color: '#2f6fed',
  startsAt: 1_800_000_000_000,
};
let show: ShownShow | null = null;
const asked: string[] = [];

const routes = watchRoutes({
  ...PAGE_OPTIONS,
  originOf: () => 'https://live.example',
  readShow: async (id) => {
    asked.push(id);
    return show;
  },
});
/** Limit for what a browser loads before the video, without hls.js. */
const BUDGET_BYTES = 250_000;

const withServer = <T>(use: (origin: string) => Promise<T>) =>
  withPageServer({ ...routes, ...typefaceRoutes(PAGE_OPTIONS) }, use);

const plain = { headers: { 'Accept-Encoding': 'identity' } };
const gzipped = { headers: { 'Accept-Encoding': 'gzip, br' }, decompress: false };

/** The content of each `meta` element of a page, by its name or property, as a browser reads it. */
function metasOf(html: string): Record<string, string> {
  const metas: Record<string, string> = {};
  const rewriter = new HTMLRewriter().on('meta', {
    element(meta) {
      const name = meta.getAttribute('name') ?? meta.getAttribute('property');
      if (name) metas[name] = decodeEntities(meta.getAttribute('content') ?? '');
    },
  });
  rewriter.transform(html);
  return metas;
}

const decodeEntities = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

describe('/watch/:stream_id', () => {
  afterEach(() => {
    show = null;
  });

  test('[G-28] [S-18] the watch page of a request without a valid host has the title of its show', () =>
    withServer(async (origin) => {
      show = SHOW;
      const invalid = 'HTTP/1.1\r\nHost: 1.2.3.999\r\nConnection: close\r\n\r\n';
      for (const head of ['HTTP/1.0\r\n\r\n', invalid]) {
        const request = `GET /watch/${STREAM_ID} ${head}`;
        // The first request builds the page.
        const answer = await rawExchange(origin, [request], { waitMs: 10_000 });
        expect(answer.status).toBe(200);
        expect(await responseOf(answer).text()).toContain('<title>Quiz &amp; ');
      }
    }));

  test('[S-18] the watch page has the title of its show and what link previews need', () =>
    withServer(async (origin) => {
      show = SHOW;
      const html = await (await fetch(`${origin}/watch/${STREAM_ID.toUpperCase()}`)).text();
      expect(html).toContain('<title>Quiz &amp; &quot;friends&quot; &lt;b&gt;</title>');
      expect(metasOf(html)).toMatchObject({
        description: "It's $& on </title>",
        'theme-color': '#2f6fed',
        'og:title': 'Quiz & "friends" <b>',
        'og:description': "It's $& on </title>",
        'og:image': 'https://shop.example/poster.jpg?a=1&b=2',
        'og:url': `https://live.example/watch/${STREAM_ID}`,
        'twitter:card': 'summary_large_image',
      });
      expect(metasOf(html)).not.toHaveProperty('robots');
      const [, data = ''] = / data-show="([^"]*)"/.exec(html) ?? [];
      expect(JSON.parse(decodeEntities(data))).toEqual(SHOW);
      expect(asked.at(-1)).toBe(STREAM_ID);
      // No quotation mark or bracket of the producer ends an element.
      expect(html.match(/<title>/g)).toHaveLength(1);
      expect(html).not.toContain('<b>');
    }));

  test('[S-18] the watch page of a show without words has its title only; an unlisted one is not indexed', () =>
    withServer(async (origin) => {
      show = { ...NO_SHOW_PAGE, title: 'Plain', unlisted: true };
      const html = await (await fetch(`${origin}/watch/${STREAM_ID}`)).text();
      const metas = metasOf(html);
      expect(metas).toMatchObject({ 'og:title': 'Plain', robots: 'noindex' });
      for (const name of ['description', 'og:image', 'og:description', 'theme-color'])
        expect(metas).not.toHaveProperty(name);
    }));

  test('[S-18] the watch page changes with its show, and is the plain page without one', () =>
    withServer(async (origin) => {
      const read = async () => {
        const response = await fetch(`${origin}/watch/${STREAM_ID}`);
        return { etag: response.headers.get('etag'), html: await response.text() };
      };
      const none = await read();
      expect(none.html).toContain('<title>Watch · Fourbeat</title>');
      show = SHOW;
      const first = await read();
      show = { ...SHOW, title: 'Another' };
      const second = await read();
      expect(new Set([none.etag, first.etag, second.etag]).size).toBe(3);
      expect(second.html).toContain('<title>Another</title>');
    }));

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
      for (const path of Object.keys(typefaceRoutes(PAGE_OPTIONS))) await load(path);
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
