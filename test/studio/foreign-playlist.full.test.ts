import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { until } from '../support/until.ts';

// Shows whose hostile playlist is on another server.

const COUNT = 1_500;
const WATCHED_MS = 8_000;
/** Each player pauses for 2 s or longer before a retry, which may try all URLs again. */
const OPENED_MAX = (WATCHED_MS / 2_000 + 1) * (COUNT + 2);
/** Counts the requests that hls.js prepares, those too that it does not send. */
const COUNT_OPENED = `
  globalThis.opened = 0;
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (...parameters) {
    globalThis.opened++;
    return open.apply(this, parameters);
  };`;

let fixture: StudioFixture;
let owner: OpenedPage;
let viewer: OpenedPage;
let foreign: ReturnType<typeof Bun.serve>;

const targets = () =>
  Array.from({ length: COUNT }, (_, n) => `${fixture.url}/studio/v1/account?n=${n}`);
const FILES: Record<string, () => string> = {
  '/variants.m3u8': () =>
    ['#EXTM3U', ...targets().flatMap((url) => ['#EXT-X-STREAM-INF:BANDWIDTH=9', url])].join('\n'),
  '/segments.m3u8': () =>
    [
      ...['#EXTM3U', '#EXT-X-TARGETDURATION:30'],
      ...targets().flatMap((url) => ['#EXTINF:30,', url]),
    ].join('\n'),
};

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  viewer = await fixture.open('/');
  await owner.context.addInitScript(COUNT_OPENED);
  await viewer.context.addInitScript(COUNT_OPENED);
  foreign = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch: ({ url }) =>
      new Response(FILES[new URL(url).pathname]?.(), {
        headers: { 'Access-Control-Allow-Origin': '*' },
      }),
  });
}, 60_000);
afterAll(async () => {
  await foreign?.stop(true);
  await fixture?.close();
});

test.each(['variants', 'segments'])(
  '[U-7] a playlist of another server with %s of the studio API causes no requests to it, and is retried with pauses',
  async (name) => {
    const show = { title: 'A show', hls_url: `${foreign.url}${name}.m3u8` };
    const { id } = await fixture.call<StudioStream>(owner, 'POST', '/streams', show);
    await fixture.call(owner, 'POST', `/streams/${id}/start`);
    const expectFewRequests = async ({ page }: OpenedPage, path: string) => {
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await page.goto(fixture.url + path);
      const opened = () => page.evaluate<number>('opened');
      await until('the playlist', async () => (await opened()) > 0);
      await Bun.sleep(WATCHED_MS);
      expect(requested.filter((url) => url.includes('account?n='))).toEqual([]);
      expect(await opened()).toBeLessThanOrEqual(OPENED_MAX);
    };
    await expectFewRequests(viewer, `/watch/${id}`);
    await expectFewRequests(owner, `/studio/streams/${id}/rundown`);
    await expectFewRequests(owner, `/studio/streams/${id}/on-air`);
    await fixture.call(owner, 'POST', `/streams/${id}/end`);
    await expectFewRequests(owner, `/studio/streams/${id}/report`);
  },
  90_000,
);
