import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import type { HlsMediaText } from '../support/media/conformance/hls-text.ts';
import {
  CalmStream,
  discontinuitiesOf,
  encoders,
  megabytesOf,
  textOf,
} from '../support/media/fault-fixture.ts';
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
import { H264, made, PICTURE, TONE } from '../support/media/made-with-ffmpeg.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';

// What goes wrong with one source goes wrong for that one alone. All the while a viewer follows the
// feed of another stream, whose video must not be disturbed either.

const MEDIA = { segmentMs: 500, sourceGraceMs: 15_000 };

let service: Harness;
let folder: string;
let calm: CalmStream;
let film: Uint8Array;
let laterFilm: Uint8Array;
const sources = new Set<Subprocess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fourbeat-faults-'));
  // The service is in this process, and stands still while one is made.
  film = filmFrom(0);
  laterFilm = filmFrom(36_000);
  service = await startMedia({ media: MEDIA });
  calm = await CalmStream.begin(service);
}, 30_000);
afterEach(() => {
  for (const source of sources) source.kill('SIGKILL');
  sources.clear();
});
afterAll(async () => {
  calm?.source.kill('SIGKILL');
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Three seconds in FLV, whose times begin at `fromS`. */
function filmFrom(fromS: number): Uint8Array {
  return made([
    ...[...PICTURE, ...TONE, '-t', '3', ...H264, '-c:a', 'aac'],
    ...['-output_ts_offset', `${fromS}`, '-f', 'flv'],
  ]);
}

interface Live {
  readonly streamId: string;
  readonly source: Subprocess;
  readonly encoder: number;
}

function sends(...call: Parameters<typeof send>): Subprocess {
  const source = send(...call);
  sources.add(source);
  return source;
}

/** One more stream, with a source and its encoder. */
async function goLive(way: 'rtmp' | 'srt'): Promise<Live> {
  const before = new Set(encoders());
  const streamId = await service.createStream();
  const ingest = await ingestOf(service, streamId);
  const source = sends(way === 'rtmp' ? rtmpOf(ingest) : srtOf(ingest));
  await segmentsOf(service, streamId, 2);
  const [encoder] = encoders().filter((pid) => !before.has(pid));
  return { streamId, source, encoder: encoder as number };
}

/** Waits until a stream goes on after a discontinuity. */
function goesOn(streamId: string, withinMs?: number): Promise<HlsMediaText> {
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

/** A sender by WebSocket, which sends what a test says. */
async function byWebSocket(streamId: string, type: string) {
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

const CUT_MS = 10_000;

const random = seededRandom(4);
const noise = (length: number) =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));

describe('an encoder', () => {
  test('[M-40] [M-41] that is killed or stuck is started again, and the playlist goes on after a discontinuity', async () => {
    const killed = await goLive('rtmp');
    const stuck = await goLive('srt');
    const checks = [killed, stuck].map(({ streamId }) => new StreamCheck(service, streamId));
    for (const check of checks) expect(await check.violations()).toEqual([]);
    process.kill(killed.encoder, 'SIGKILL');
    process.kill(stuck.encoder, 'SIGSTOP');
    await goesOn(killed.streamId);
    await goesOn(stuck.streamId, 25_000);
    for (const check of checks) expect(await check.violations()).toEqual([]);
    expect(textOf(stuck.encoder, 'stat')).toBe('');
    for (const { source, streamId } of [killed, stuck]) {
      expect(source.exitCode).toBeNull();
      expect(await statusOf(service, streamId)).toBe('STREAMING');
      await quit(source);
    }
  }, 45_000);
});

test('[M-7] a source that is cut for 10 s and comes back goes on in the same stream', async () => {
  const { streamId, source } = await goLive('rtmp');
  const check = new StreamCheck(service, streamId);
  expect(await check.violations()).toEqual([]);
  await quit(source, 'SIGKILL');
  await Bun.sleep(CUT_MS);
  expect(await statusOf(service, streamId)).toBe('STREAMING');
  const again = sends(rtmpOf(await ingestOf(service, streamId)));
  await goesOn(streamId);
  expect(await check.violations()).toEqual([]);
  await quit(again);
}, 45_000);

describe('garbage', () => {
  test('[M-16] by RTMP and by SRT is dropped, and others are served', async () => {
    const { rtmp, srt } = await ingestOf(service, await service.createStream());
    const ports = [rtmp, srt].map((way) => Number(/:(\d+)/.exec(way?.url ?? '')?.[1]));
    const [rtmpPort = 0, srtPort = 0] = ports;
    const sockets = Array.from({ length: 20 }, (_, at) => {
      const socket = connect(rtmpPort, '127.0.0.1');
      socket.on('error', () => {});
      // Some begin as RTMP does.
      socket.write(Buffer.concat([Buffer.from(at % 2 ? [3] : []), noise(4_000)]));
      return socket;
    });
    const datagrams = createSocket('udp4');
    for (let i = 0; i < 300; i++)
      datagrams.send(noise(1 + ((i * 7) % 1_400)), srtPort, '127.0.0.1');
    // A real one gets through while they are there.
    const { source } = await goLive('srt');
    await quit(source);
    for (const socket of sockets) socket.destroy();
    datagrams.close();
  }, 30_000);

  test.each([
    ['WebM', 'video/webm;codecs=vp8,opus', () => noise(200_000)],
    ['FLV', 'video/x-flv', () => noise(200_000)],
    [
      'FLV after its header',
      'video/x-flv',
      () => Buffer.concat([Buffer.from('FLV\x01\x05\0\0\0\x09\0\0\0\0', 'latin1'), noise(200_000)]),
    ],
    ['MPEG-TS', 'video/mp2t', () => noise(200_000)],
  ])(
    '[M-16] that says it is %s ends that source, with a line for its sender',
    async (_, type, bytes) => {
      const streamId = await service.createStream();
      const { socket, closed } = await byWebSocket(streamId, type);
      socket.send(bytes());
      const { code, reason } = await closed;
      expect(code).toBe(4_415);
      expect(reason.length).toBeGreaterThan(5);
      await until('free', async () => (await ingestOf(service, streamId)).source === null);
    },
    20_000,
  );

  test('[M-16] in the middle of a good source ends it; what was good can be seen', async () => {
    const streamId = await service.createStream();
    const { socket, closed } = await byWebSocket(streamId, 'video/x-flv');
    socket.send(film);
    await segmentsOf(service, streamId, 2);
    socket.send(noise(300_000));
    expect((await closed).code).toBe(4_415);
    expect(await new StreamCheck(service, streamId).violations()).toEqual([]);
  }, 20_000);

  test('[M-16] times that jump by ten hours take no memory, and end no stream', async () => {
    const streamId = await service.createStream();
    const { socket } = await byWebSocket(streamId, 'video/x-flv');
    socket.send(film);
    await segmentsOf(service, streamId, 2);
    // Without the head of a file.
    socket.send(laterFilm.subarray(13));
    let most = 0;
    const deadlineMs = performance.now() + 3_000;
    while (performance.now() < deadlineMs) {
      most = Math.max(most, ...encoders().map(megabytesOf));
      await Bun.sleep(50);
    }
    expect(most).toBeLessThan(500);
    expect(await statusOf(service, streamId)).toBe('STREAMING');
    socket.close();
  }, 20_000);
});

test('nothing of all that reached the stream beside it, nor its viewers', () => calm.check());

test('[M-44] without ffmpeg sources hear why, and everything else works', async () => {
  const alone = await startMedia({ media: { ...MEDIA, ffmpeg: '/nonexistent/ffmpeg' } });
  try {
    const streamId = await alone.createStream();
    const { websocket, key, rtmp, srt } = await ingestOf(alone, streamId);
    expect([rtmp, srt]).toEqual([null, null]);
    const socket = new WebSocket(websocket.url);
    socket.onopen = () => socket.send(JSON.stringify({ key, type: 'video/webm' }));
    const closed = Promise.withResolvers<CloseEvent>();
    socket.onclose = (event) => closed.resolve(event);
    const { code, reason } = await closed.promise;
    expect([code, reason]).toEqual([4_503, 'This service cannot encode video; its log says why.']);
    const viewer = await alone.viewer(streamId);
    const quiz = await alone.publishQuiz(streamId);
    expect(quiz.closeInterval).toBeGreaterThan(alone.interval());
    await alone.events(viewer, alone.interval());
    expect((await fetch(`${alone.url}/media/${streamId}/master.m3u8`)).status).toBe(404);
  } finally {
    await alone.close();
  }
}, 20_000);

test('[M-7] [M-8] [M-40] a restart of the service in the middle of a show: the stream goes on when its source is back', async () => {
  const directory = join(folder, 'restart');
  const first = await startMedia({ media: MEDIA, directory });
  const streamId = await first.createStream();
  const check = new StreamCheck(first, streamId);
  const source = sends(rtmpOf(await ingestOf(first, streamId)));
  const before = await segmentsOf(first, streamId, 4);
  expect(await check.violations()).toEqual([]);
  await first.close();
  expect(await source.exited).not.toBe(null);

  const second = await startMedia({ media: MEDIA, directory });
  try {
    expect(await statusOf(second, streamId)).toBe('STREAMING');
    const kept = await playlistOf(second, streamId);
    expect(kept?.segments.slice(0, 4)).toMatchObject(
      before.segments.map(({ uri, dateMs }) => ({ uri, dateMs })),
    );
    const token = first.account.token;
    const asked = await second.studio('GET', `/streams/${streamId}/ingest`, undefined, { token });
    const again = sends(rtmpOf(await expectJson(asked, 200)));
    const after = await segmentsOf(second, streamId, (kept?.segments.length ?? 0) + 2);
    expect(discontinuitiesOf(after)).toBe(1);
    expect(await check.violations(second)).toEqual([]);
    await quit(again);
  } finally {
    await second.close();
  }
}, 30_000);
