import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import type { Ingest } from '../../protocol/ingest.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import {
  endOf,
  fileOf,
  ingestOf,
  loudnessIn,
  quit,
  rtmpOf,
  StreamCheck,
  segmentsOf,
  send,
  sizeIn,
  srtOf,
  startMedia,
  statusOf,
} from '../support/media/live-fixture.ts';
import {
  complaints,
  H264,
  made,
  PICTURE,
  picturesIn,
  TONE,
} from '../support/media/made-with-ffmpeg.ts';

// Each way in, with what people really send with, up to what a player gets.

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
const SEGMENTS = 3;
const FAKE_CAMERA = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];

let service: Harness;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fourbeat-senders-'));
  service = await startMedia();
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Something that sends, and how to stop it. */
interface Sender {
  stop(): Promise<void>;
}

type StartSender = (ingest: Ingest, streamId: string) => Sender | Promise<Sender>;

const program = (child: Subprocess): Sender => ({ stop: () => quit(child) });

const overRtmp: StartSender = (ingest) => program(send(rtmpOf(ingest)));
const overSrt: StartSender = (ingest) => program(send(srtOf(ingest)));

const playFile: StartSender = (_, streamId) => {
  const file = join(folder, 'file.mkv');
  const film = [...PICTURE, ...TONE, '-t', '4', ...H264, '-c:a', 'aac', '-f', 'matroska'];
  writeFileSync(file, made(film));
  const what = [file, '--stream', streamId, '--url', service.url, '--plain'];
  return program(
    Bun.spawn([PROGRAM, 'media', 'play', ...what], {
      env: { ...process.env, FOURBEAT_TOKEN: service.account.token },
      stdio: ['ignore', 'ignore', 'ignore'],
    }),
  );
};

const CAMERA_HTML = `<!doctype html><title>source</title><script type="module">
  import { BrowserSource, browserOf } from '/browser-source.js';
  window.begin = async (url, key) => {
    const video = { width: 192, height: 108, frameRate: 15 };
    const stream = await navigator.mediaDevices.getUserMedia({ video, audio: true });
    window.source = new BrowserSource({ stream, url, key, browser: browserOf(window), onState() {} });
    window.source.start();
  };
</script>`;

const camera: StartSender = async ({ websocket, key }) => {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(new URL('../../studio/source/browser-source.ts', import.meta.url))],
    target: 'browser',
  });
  const script = (await outputs[0]?.text()) ?? '';
  const type = (name: string) => ({ headers: { 'Content-Type': `text/${name}` } });
  const pages = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/': () => new Response(CAMERA_HTML, type('html')),
      '/browser-source.js': () => new Response(script, type('javascript')),
    },
  });
  const browser = await launchBrowser(FAKE_CAMERA);
  const page = await browser.newPage();
  await page.goto(pages.url.href);
  await page.evaluate(`window.begin('${websocket.url}', '${key}')`);
  return {
    async stop() {
      await page.evaluate('window.source.stop()');
      await browser.close();
      await pages.stop(true);
    },
  };
};

const SMALL = ['192x108', '96x54', '64x36'];
// Chromium's camera has none that is smaller.
const CAMERA = ['320x180', '160x90', '106x60'];

test.each<[string, string, StartSender, string[]]>([
  ['[M-2]', 'ffmpeg by RTMP', overRtmp, SMALL],
  ['[M-3]', 'ffmpeg by SRT', overSrt, SMALL],
  ['[M-4]', "a browser's camera by WebSocket", camera, CAMERA],
  ['[M-9]', 'a file by `media play`', playFile, SMALL],
])(
  '%s [M-8] [M-10] [M-12] %s: the stream is live, plays in three sizes with sound, and ends',
  async (_, __, start, sizes) => {
    const streamId = await service.createStream();
    expect(await statusOf(service, streamId)).toBe('CREATED');
    const sender = await start(await ingestOf(service, streamId), streamId);
    try {
      const playlist = await segmentsOf(service, streamId, SEGMENTS);
      const nowMs = service.clock.nowMs();
      expect(await statusOf(service, streamId)).toBe('STREAMING');
      const last = playlist.segments.at(-1);
      const endMs = (last?.dateMs ?? 0) + (last?.durationS ?? 0) * 1_000;
      expect(nowMs - endMs).toBeWithin(0, 4_000);
      expect(playlist.segments.map(({ discontinuity }) => discontinuity)).toEqual([0, 0, 0]);

      const files = await Promise.all(
        ['v0', 'v1', 'v2', 'a0'].map((track) => fileOf(service, streamId, track)),
      );
      expect(files.slice(0, 3).map(sizeIn)).toEqual(sizes);
      for (const file of files) expect(complaints(file)).toBe('');
      for (const file of files.slice(0, 3)) expect(picturesIn(file)).toBeGreaterThan(30);
      expect(loudnessIn(files[3] as Uint8Array)).toBeGreaterThan(-40);
    } finally {
      await sender.stop();
    }
    const ended = await endOf(service, streamId);
    expect(ended.segments.length).toBeGreaterThanOrEqual(SEGMENTS);
    expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
  },
  30_000,
);

/** All that becomes of keys and of second sources, by one way in. */
async function tryKeys(targetOf: (ingest: Ingest) => Parameters<typeof send>[0]): Promise<void> {
  const streamId = await service.createStream();
  const old = await ingestOf(service, streamId);
  const source = send(targetOf(old));
  try {
    await segmentsOf(service, streamId, 1);
    const rotate = service.studio('POST', `/streams/${streamId}/ingest/rotate-key`);
    const next = await expectJson<Ingest>(await rotate, 200);
    const refused = [send(targetOf(old)), send(targetOf(next))];
    for (const one of refused) expect(await one.exited).not.toBe(0);
    const before = await segmentsOf(service, streamId, 1);
    await segmentsOf(service, streamId, before.segments.length + 2);
    expect(source.exitCode).toBeNull();
    await quit(source);
    const again = send(targetOf(next));
    const playlist = await segmentsOf(service, streamId, before.segments.length + 4);
    expect(playlist.segments.at(-1)?.discontinuity).toBe(1);
    await quit(again);
  } finally {
    source.kill();
  }
  await endOf(service, streamId);
  expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
}

test('[M-1] [M-5] [M-6] a rotated key: the old one is refused, its source goes on, and no second one is taken', async () => {
  await Promise.all([tryKeys(rtmpOf), tryKeys(srtOf)]);
}, 40_000);
