import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import type { HlsMediaPlaylist } from '../support/media/conformance/hls-parser.ts';
import {
  discontinuitiesOf,
  encoderPids,
  megabytesOf,
  procFileOf,
  UndisturbedStream,
} from '../support/media/fault-fixture.ts';
import {
  AUDIO_INPUT,
  H264_ENCODER,
  runFfmpeg,
  VIDEO_INPUT,
} from '../support/media/ffmpeg-fixture.ts';
import {
  ingestOf,
  playlistOf,
  quit,
  rtmpOf,
  StreamCheck,
  segmentsOf,
  send,
  srtOf,
  startMedia,
  statusOf,
} from '../support/media/live-fixture.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';

// A fault of one source must not affect others. During all tests, a viewer follows the feed of another
// stream, whose video must stay undisturbed too.

const MEDIA = { segmentMs: 500, sourceGraceMs: 15_000 };

let service: Harness;
let folder: string;
let undisturbed: UndisturbedStream;
let media: Uint8Array;
let laterMedia: Uint8Array;
const sources = new Set<Subprocess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fourbeat-faults-'));
  // Encode before the service starts, since this blocks the process that it runs in.
  media = mediaFrom(0);
  laterMedia = mediaFrom(36_000);
  service = await startMedia({ media: MEDIA });
  undisturbed = await UndisturbedStream.begin(service);
}, 30_000);
afterEach(() => {
  for (const source of sources) source.kill('SIGKILL');
  sources.clear();
});
afterAll(async () => {
  undisturbed?.source.kill('SIGKILL');
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Three seconds of FLV with timestamps from `fromS`. */
function mediaFrom(fromS: number): Uint8Array {
  return runFfmpeg([
    ...[...VIDEO_INPUT, ...AUDIO_INPUT, '-t', '3', ...H264_ENCODER, '-c:a', 'aac'],
    ...['-output_ts_offset', `${fromS}`, '-f', 'flv'],
  ]);
}

interface Live {
  readonly streamId: string;
  readonly source: Subprocess;
  readonly encoder: number;
}

function startSender(...call: Parameters<typeof send>): Subprocess {
  const source = send(...call);
  sources.add(source);
  return source;
}

/** Creates a stream with a source. */
async function goLive(protocol: 'rtmp' | 'srt'): Promise<Live> {
  const before = new Set(encoderPids());
  const streamId = await service.createStream();
  const ingest = await ingestOf(service, streamId);
  const source = startSender(protocol === 'rtmp' ? rtmpOf(ingest) : srtOf(ingest));
  await segmentsOf(service, streamId, 2);
  const [encoder] = encoderPids().filter((pid) => !before.has(pid));
  return { streamId, source, encoder: encoder as number };
}

/** Waits until a stream continues after a discontinuity. */
function waitUntilResumed(streamId: string, withinMs?: number): Promise<HlsMediaPlaylist> {
  return until(
    'two segments after a discontinuity',
    async () => {
      const playlist = await playlistOf(service, streamId);
      const again = playlist?.segments.filter(({ discontinuity }) => discontinuity > 0) ?? [];
      return again.length >= 2 ? playlist : null;
    },
    withinMs,
  );
}

/** Connects a WebSocket source whose media the test sends. */
async function connectWebSocket(streamId: string, type: string) {
  const { websocket, key } = await ingestOf(service, streamId);
  const socket = new WebSocket(websocket.url);
  const live = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<{ code: number; reason: string }>();
  socket.onopen = () => socket.send(JSON.stringify({ key, type }));
  socket.onmessage = () => live.resolve();
  socket.onclose = ({ code, reason }) => {
    closed.resolve({ code, reason });
    live.resolve();
  };
  await live.promise;
  return { socket, closed: closed.promise };
}

const RECONNECT_AFTER_MS = 10_000;

const random = seededRandom(4);
const randomBytes = (length: number) =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));

describe('an encoder', () => {
  test('[M-40] [M-41] an encoder that is killed or stuck is restarted, and the playlist continues after a discontinuity', async () => {
    const killed = await goLive('rtmp');
    const stuck = await goLive('srt');
    const checks = [killed, stuck].map(({ streamId }) => new StreamCheck(service, streamId));
    for (const check of checks) expect(await check.violations()).toEqual([]);
    process.kill(killed.encoder, 'SIGKILL');
    process.kill(stuck.encoder, 'SIGSTOP');
    await waitUntilResumed(killed.streamId);
    await waitUntilResumed(stuck.streamId, 25_000);
    for (const check of checks) expect(await check.violations()).toEqual([]);
    expect(procFileOf(stuck.encoder, 'stat')).toBe('');
    for (const { source, streamId } of [killed, stuck]) {
      expect(source.exitCode).toBeNull();
      expect(await statusOf(service, streamId)).toBe('STREAMING');
      await quit(source);
    }
  }, 45_000);
});

test('[M-7] a source that reconnects after 10 s continues the same stream', async () => {
  const { streamId, source } = await goLive('rtmp');
  const check = new StreamCheck(service, streamId);
  expect(await check.violations()).toEqual([]);
  await quit(source, 'SIGKILL');
  await Bun.sleep(RECONNECT_AFTER_MS);
  expect(await statusOf(service, streamId)).toBe('STREAMING');
  const again = startSender(rtmpOf(await ingestOf(service, streamId)));
  await waitUntilResumed(streamId);
  expect(await check.violations()).toEqual([]);
  await quit(again);
}, 45_000);

describe('malformed media', () => {
  test('[M-16] malformed media by RTMP and SRT is dropped, and other sources are served', async () => {
    const { rtmp, srt } = await ingestOf(service, await service.createStream());
    const ports = [rtmp, srt].map((protocol) => Number(/:(\d+)/.exec(protocol?.url ?? '')?.[1]));
    const [rtmpPort = 0, srtPort = 0] = ports;
    const sockets = Array.from({ length: 20 }, (_, at) => {
      const socket = connect(rtmpPort, '127.0.0.1');
      socket.on('error', () => {});
      // Some start with the RTMP version byte.
      socket.write(Buffer.concat([Buffer.from(at % 2 ? [3] : []), randomBytes(4_000)]));
      return socket;
    });
    const datagrams = createSocket('udp4');
    for (let i = 0; i < 300; i++)
      datagrams.send(randomBytes(1 + ((i * 7) % 1_400)), srtPort, '127.0.0.1');
    // A valid source is accepted meanwhile.
    const { source } = await goLive('srt');
    await quit(source);
    for (const socket of sockets) socket.destroy();
    datagrams.close();
  }, 30_000);

  test.each([
    ['WebM', 'video/webm;codecs=vp8,opus', () => randomBytes(200_000)],
    ['FLV', 'video/x-flv', () => randomBytes(200_000)],
    [
      'FLV after its header',
      'video/x-flv',
      () =>
        Buffer.concat([
          Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0', 'latin1'),
          randomBytes(200_000),
        ]),
    ],
    ['MPEG-TS', 'video/mp2t', () => randomBytes(200_000)],
  ])(
    '[M-16] malformed media declared as %s ends the source with a reason for its sender',
    async (_, type, bytes) => {
      const streamId = await service.createStream();
      const { socket, closed } = await connectWebSocket(streamId, type);
      socket.send(bytes());
      const { code, reason } = await closed;
      expect(code).toBe(4_415);
      expect(reason.length).toBeGreaterThan(5);
      await until('free', async () => (await ingestOf(service, streamId)).source === null);
    },
    20_000,
  );

  test('[M-16] malformed media in the middle of a valid source ends it, and earlier segments can be played', async () => {
    const streamId = await service.createStream();
    const { socket, closed } = await connectWebSocket(streamId, 'video/x-flv');
    socket.send(media);
    await segmentsOf(service, streamId, 2);
    socket.send(randomBytes(300_000));
    expect((await closed).code).toBe(4_415);
    expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
  }, 20_000);

  test('[M-16] a timestamp jump of ten hours neither fills memory nor ends the stream', async () => {
    const streamId = await service.createStream();
    const { socket } = await connectWebSocket(streamId, 'video/x-flv');
    socket.send(media);
    await segmentsOf(service, streamId, 2);
    // Without the FLV file header, which a sender does not repeat.
    socket.send(laterMedia.subarray(13));
    let maxMegabytes = 0;
    const deadlineMs = performance.now() + 3_000;
    while (performance.now() < deadlineMs) {
      maxMegabytes = Math.max(maxMegabytes, ...encoderPids().map(megabytesOf));
      await Bun.sleep(50);
    }
    expect(maxMegabytes).toBeLessThan(500);
    expect(await statusOf(service, streamId)).toBe('STREAMING');
    socket.close();
  }, 20_000);
});

test('the faults of other sources disturb neither the video of a stream nor the feed of its viewer', () =>
  undisturbed.check());

test('[M-44] without ffmpeg, sources get a reason, and quizzes and the feed work', async () => {
  const isolated = await startMedia({ media: { ...MEDIA, ffmpeg: '/nonexistent/ffmpeg' } });
  try {
    const streamId = await isolated.createStream();
    const { websocket, key, rtmp, srt } = await ingestOf(isolated, streamId);
    expect([rtmp, srt]).toEqual([null, null]);
    const socket = new WebSocket(websocket.url);
    socket.onopen = () => socket.send(JSON.stringify({ key, type: 'video/webm' }));
    const closed = Promise.withResolvers<CloseEvent>();
    socket.onclose = (event) => closed.resolve(event);
    const { code, reason } = await closed.promise;
    expect([code, reason]).toEqual([4_503, 'This service cannot encode video; see its log.']);
    const viewer = await isolated.viewer(streamId);
    const quiz = await isolated.publishQuiz(streamId);
    expect(quiz.closeInterval).toBeGreaterThan(isolated.interval());
    await isolated.events(viewer, isolated.interval());
    expect((await fetch(`${isolated.url}/media/${streamId}/master.m3u8`)).status).toBe(404);
  } finally {
    await isolated.close();
  }
}, 20_000);

test('[M-7] [M-8] [M-40] after a restart of the service, the stream continues when its source returns', async () => {
  const directory = join(folder, 'restart');
  const first = await startMedia({ media: MEDIA, directory });
  const streamId = await first.createStream();
  const check = new StreamCheck(first, streamId);
  const source = startSender(rtmpOf(await ingestOf(first, streamId)));
  const before = await segmentsOf(first, streamId, 4);
  expect(await check.violations()).toEqual([]);
  await first.close();
  expect(await source.exited).not.toBe(null);

  const second = await startMedia({ media: MEDIA, directory });
  try {
    expect(await statusOf(second, streamId)).toBe('STREAMING');
    const restored = await playlistOf(second, streamId);
    expect(restored?.segments.slice(0, 4)).toMatchObject(
      before.segments.map(({ uri, dateMs }) => ({ uri, dateMs })),
    );
    const token = first.account.token;
    const ingestResponse = await second.studio('GET', `/streams/${streamId}/ingest`, undefined, {
      token,
    });
    const again = startSender(rtmpOf(await expectJson(ingestResponse, 200)));
    const after = await segmentsOf(second, streamId, (restored?.segments.length ?? 0) + 2);
    expect(discontinuitiesOf(after)).toBe(1);
    expect(await check.violations(second)).toEqual([]);
    await quit(again);
  } finally {
    await second.close();
  }
}, 30_000);
