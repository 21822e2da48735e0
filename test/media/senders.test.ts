import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import type { Ingest } from '../../protocol/ingest.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import {
  AUDIO_INPUT,
  countFrames,
  decodeErrors,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../support/media/ffmpeg-fixture.ts';
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

// Each ingest protocol, with real senders, up to the files that a player gets: RTMP and SRT, and in
// `npm run test:full` all of them.

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

interface Sender {
  stop(): Promise<void>;
}

type StartSender = (ingest: Ingest, streamId: string) => Sender | Promise<Sender>;

const senderOf = (child: Subprocess): Sender => ({ stop: () => quit(child) });

const overRtmp: StartSender = (ingest) => senderOf(send(rtmpOf(ingest)));
const overSrt: StartSender = (ingest) => senderOf(send(srtOf(ingest)));

const playFile: StartSender = (_, streamId) => {
  const file = join(folder, 'file.mkv');
  const media = [
    ...VIDEO_INPUT,
    ...AUDIO_INPUT,
    '-t',
    '4',
    ...H264_ENCODER,
    '-c:a',
    'aac',
    '-f',
    'matroska',
  ];
  writeFileSync(file, runFfmpeg(media));
  const args = [file, '--stream', streamId, '--url', service.url, '--plain'];
  return senderOf(
    Bun.spawn([PROGRAM, 'media', 'play', ...args], {
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
// The smallest size of Chromium's fake camera.
const CAMERA = ['320x180', '160x90', '106x60'];

const TITLE =
  '%s [M-8] [M-10] [M-12] %s: the stream goes live, has three renditions with audio, and ends';

test.each<[string, string, StartSender]>([
  ['[M-2]', 'ffmpeg by RTMP', overRtmp],
  ['[M-3]', 'ffmpeg by SRT', overSrt],
])(TITLE, (_, __, start) => checkSender(start, SMALL), 30_000);

if (IS_FULL_RUN) {
  test.each<[string, string, StartSender, string[]]>([
    ['[M-4]', "a browser's camera by WebSocket", camera, CAMERA],
    ['[M-9]', 'a file by `media play`', playFile, SMALL],
  ])(TITLE, (_, __, start, sizes) => checkSender(start, sizes), 30_000);

  test('[M-1] [M-5] [M-6] after a key rotation, the old key is refused, its source continues, and a second source is refused', async () => {
    await Promise.all([checkKeys(rtmpOf), checkKeys(srtOf)]);
  }, 40_000);
}

/** Checks that a stream goes live, has three renditions with audio, and ends. */
async function checkSender(start: StartSender, sizes: string[]): Promise<void> {
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
    for (const file of files) expect(decodeErrors(file)).toBe('');
    for (const file of files.slice(0, 3)) expect(countFrames(file)).toBeGreaterThan(30);
    expect(loudnessIn(files[3] as Uint8Array)).toBeGreaterThan(-40);
  } finally {
    await sender.stop();
  }
  const ended = await endOf(service, streamId);
  expect(ended.segments.length).toBeGreaterThanOrEqual(SEGMENTS);
  expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
}

/** Checks key rotation and second sources over one protocol. */
async function checkKeys(targetOf: (ingest: Ingest) => Parameters<typeof send>[0]): Promise<void> {
  const streamId = await service.createStream();
  const oldIngest = await ingestOf(service, streamId);
  const source = send(targetOf(oldIngest));
  try {
    await segmentsOf(service, streamId, 1);
    const rotate = service.studio('POST', `/streams/${streamId}/ingest/rotate-key`);
    const newIngest = await expectJson<Ingest>(await rotate, 200);
    const refused = [send(targetOf(oldIngest)), send(targetOf(newIngest))];
    for (const rejected of refused) expect(await rejected.exited).not.toBe(0);
    const before = await segmentsOf(service, streamId, 1);
    await segmentsOf(service, streamId, before.segments.length + 2);
    expect(source.exitCode).toBeNull();
    await quit(source);
    const again = send(targetOf(newIngest));
    const playlist = await segmentsOf(service, streamId, before.segments.length + 4);
    expect(playlist.segments.at(-1)?.discontinuity).toBe(1);
    await quit(again);
  } finally {
    source.kill();
  }
  await endOf(service, streamId);
  expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
}
