import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { BunRequest, Server } from 'bun';
import { pino } from 'pino';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../../test/support/media/browser.ts';
import { FakeIngest } from '../../../test/support/media/fake-ingest.ts';
import { INGEST_PATH, WebSocketIngest } from './websocket-ingest.ts';
import type { WebSocketSource } from './websocket-source.ts';

const STREAM = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a01';
const KEY = 'sk_0123456789abcdefghijABCDEFGHIJKL';
const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3]);

const FAKE_CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];

const HTML = `<!doctype html><title>source</title><script type="module">
  import { BrowserSource, browserOf } from '/browser-source.js';
  window.states = [];
  window.begin = async (key) => {
    const stream = await navigator.mediaDevices.getUserMedia({
      video: { width: 320, height: 180, frameRate: 15 },
      audio: true,
    });
    window.source = new BrowserSource({
      stream,
      url: new URL('/media/${STREAM}/ingest', location.href).href.replace(/^http/, 'ws'),
      key,
      browser: browserOf(window),
      onState: (state) => window.states.push(state),
    });
    window.source.start();
  };
</script>`;

let browser: Browser;
let server: Server<WebSocketSource>;
let ws: WebSocketIngest;
let ingest: FakeIngest;
let page: Page;

beforeAll(async () => {
  const built = await Bun.build({
    entrypoints: [new URL('../../../studio/source/browser-source.ts', import.meta.url).pathname],
    target: 'browser',
  });
  const script = await built.outputs[0]?.text();
  browser = await launchBrowser(FAKE_CAMERA);
  server = Bun.serve<WebSocketSource, string>({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/': () => new Response(HTML, { headers: { 'Content-Type': 'text/html' } }),
      '/browser-source.js': () =>
        new Response(script ?? '', { headers: { 'Content-Type': 'text/javascript' } }),
      [INGEST_PATH]: (request: BunRequest<string>, server) => ws.upgrade(request, server),
    },
    websocket: {
      open: (socket) => ws.handlers.open?.(socket),
      message: (socket, message) => ws.handlers.message?.(socket, message),
      close: (socket, code, reason) => ws.handlers.close?.(socket, code, reason),
    },
  });
});

afterEach(async () => {
  await page.close();
  await ws.stop();
});

afterAll(async () => {
  await browser.close();
  await server.stop(true);
});

/** A page that sends its fake camera with a stream key. */
async function openSourcePage(key: string): Promise<void> {
  ingest = new FakeIngest(new Map([[KEY, STREAM]]));
  ws = new WebSocketIngest({
    ingest,
    logger: pino({ level: 'silent' }),
    addressOf: () => '127.0.0.1',
    corsOrigin: '*',
    log: { requestId: () => 'request-1', logDefect: () => {} },
  });
  page = await browser.newPage();
  await page.goto(server.url.href);
  await page.evaluate(`window.begin('${key}')`);
}

const states = () => page.evaluate<unknown[]>('window.states');

async function probeStreams(bytes: Uint8Array): Promise<{ codec: string; packets: number }[]> {
  const probe = Bun.spawn(
    [
      ...['ffprobe', '-v', 'error', '-count_packets', '-of', 'json'],
      ...['-show_entries', 'stream=codec_name,nb_read_packets', '-f', 'matroska', 'pipe:0'],
    ],
    { stdin: bytes as Uint8Array<ArrayBuffer>, stdout: 'pipe', stderr: 'ignore' },
  );
  const { streams } = await probe.stdout.json();
  return streams.map((stream: { codec_name: string; nb_read_packets: string }) => ({
    codec: stream.codec_name,
    packets: Number(stream.nb_read_packets),
  }));
}

test('[M-4] the camera and microphone of a real browser arrive as WebM', async () => {
  await openSourcePage(KEY);
  const session = ingest.sessions[0] ?? (await ingest.next());
  expect(session.request.container).toBe('matroska');
  await session.waitForBytes(40_000);
  await page.evaluate('window.source.stop()');
  expect(await session.waitForEnd()).toContain('the socket was closed');
  const [first, second] = (await probeStreams(session.content())).sort((a, b) =>
    a.codec.localeCompare(b.codec),
  );
  expect([first?.codec, second?.codec].filter((codec) => codec === 'opus')).toHaveLength(1);
  for (const stream of [first, second]) expect(stream?.packets).toBeGreaterThan(15);
  expect(await states()).toEqual([
    { state: 'connecting' },
    { state: 'live', isSlow: false },
    { state: 'stopped', reason: 'Stopped.' },
  ]);
});

test('[M-7] a browser reconnects after a broken connection and restarts its recording', async () => {
  await openSourcePage(KEY);
  const first = ingest.sessions[0] ?? (await ingest.next());
  await first.waitForBytes(1_000);
  const next = ingest.next();
  // As a node does that is shut down.
  first.end('the connection broke');
  const second = await next;
  await second.waitForBytes(1_000);
  expect(Buffer.from(second.content()).subarray(0, 4)).toEqual(EBML);
  expect((await states()).slice(-3)).toEqual([
    { state: 'live', isSlow: false },
    { state: 'reconnecting' },
    { state: 'live', isSlow: false },
  ]);
});

test('[M-5] a browser with a wrong key is rejected', async () => {
  await openSourcePage('sk_wrong');
  await page.waitForFunction('window.states.length > 1');
  expect(await states()).toEqual([
    { state: 'connecting' },
    { state: 'refused', reason: 'No stream has this key.' },
  ]);
});
