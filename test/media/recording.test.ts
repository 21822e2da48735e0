import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import { decodeErrors, runFfmpeg } from '../support/media/ffmpeg-fixture.ts';
import {
  endOf,
  fileOf,
  ingestOf,
  playlistOf,
  quit,
  rtmpOf,
  StreamCheck,
  segmentsOf,
  send,
  sizeIn,
  startMedia,
  TRACK_IDS,
} from '../support/media/live-fixture.ts';
import { readPicture } from '../support/media/read-test-picture.ts';
import { playTestPicture } from '../support/media/test-source.ts';
import { until } from '../support/until.ts';

const DVR_MS = 4_000;
const MEDIA = { segmentMs: 500, dvrMs: DVR_MS };
const [WIDTH, HEIGHT, FPS] = [320, 180, 15];

let folder: string;
let service: Harness;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fourbeat-recording-'));
  service = await startMedia({ media: MEDIA, directory: folder });
});
afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

if (IS_FULL_RUN) {
  test('[M-26] viewers can seek back as far as configured, and no further', async () => {
    const streamId = await service.createStream();
    const source = send(rtmpOf(await ingestOf(service, streamId)));
    const check = new StreamCheck(service, streamId);
    try {
      const window = await until('a window', async () => {
        const playlist = await playlistOf(service, streamId);
        return playlist && playlist.mediaSequence >= 3 ? playlist : null;
      });
      expect(await check.violations()).toEqual([]);
      const seconds = window.segments.reduce((sum, { durationS }) => sum + durationS, 0);
      expect(seconds).toBeWithin(DVR_MS / 1_000 - 0.1, DVR_MS / 1_000 + 1);
      expect(window.type).toBeNull();
      const manifest = await (await fetch(`${service.url}/media/${streamId}/manifest.mpd`)).text();
      expect(manifest).toContain('timeShiftBufferDepth="PT4S"');
      await segmentsOf(service, streamId, 3);
      expect(await check.violations()).toEqual([]);
    } finally {
      await quit(source);
    }
    const ended = await endOf(service, streamId);
    // After the end, the window remains available.
    expect(ended.segments.length).toBeGreaterThan(4);
    expect(await check.violations()).toEqual([]);
  }, 30_000);
}

test('[M-27] a recording plays completely after its end and a restart, in sync with its feed', async () => {
  const streamId = await service.createStream({ recording: true });
  const check = new StreamCheck(service, streamId);
  const source = await playTestPicture(service, streamId, `${WIDTH}x${HEIGHT}`);
  await segmentsOf(service, streamId, 5);
  expect((await ingestOf(service, streamId)).source?.kind).toBe('media-play');
  const response = await service.studio('POST', `/streams/${streamId}/events`, {
    type: 'mark',
    data: { index: 'now' },
  });
  await expectJson(response, 201);
  // Longer than the window of a stream without recording.
  await segmentsOf(service, streamId, 14);
  const live = await playlistOf(service, streamId);
  expect(live).toMatchObject({ type: null, mediaSequence: 0 });
  expect(await check.violations()).toEqual([]);
  await quit(source);
  await endOf(service, streamId);
  expect(await check.violations()).toEqual([]);

  const { token } = service.account;
  await service.close();
  service = await startMedia({ media: MEDIA, directory: folder });
  const recording = await playlistOf(service, streamId);
  expect(recording).toMatchObject({ type: null, mediaSequence: 0, isEnded: true });
  expect(recording?.segments.length).toBeGreaterThanOrEqual(14);
  expect(await check.violations(service)).toEqual([]);
  const manifest = await (await fetch(`${service.url}/media/${streamId}/manifest.mpd`)).text();
  expect(manifest).toContain('type="static"');
  for (const track of TRACK_IDS) {
    expect(decodeErrors(await fileOf(service, streamId, track))).toBe('');
  }

  const exported = await service.studio(
    'GET',
    `/streams/${streamId}/exports/feed?format=ndjson`,
    undefined,
    { token },
  );
  const [mark] = (await exported.text())
    .split('\n')
    .filter((line) => line.includes('"mark"'))
    .map((line) => JSON.parse(line) as { interval: number });
  const interval = mark?.interval ?? 0;
  const events = await service.events(await service.viewer(streamId), interval);
  expect(events).toContainEqual({ type: 'mark', data: { index: 'now' } });
  const shown = await framesIn(streamId, interval);
  expect(shown.length).toBeGreaterThan(2);
  for (const { atMs, unixMs } of shown) {
    // The player's time of a frame has the interval of the time code, or the next one.
    expect(intervalAt(atMs) - intervalAt(unixMs)).toBeWithin(0, 2);
    expect(atMs - unixMs).toBeWithin(-20, 250);
  }
}, 60_000);

/** Frames of the recording in an interval: player time, and time by the time code. */
async function framesIn(
  streamId: string,
  interval: number,
): Promise<{ readonly atMs: number; readonly unixMs: number }[]> {
  const fromMs = intervalStartMs(interval);
  let startMs = 0;
  const file = await fileOf(service, streamId, 'v0', ({ segments }) => {
    const first = segments.findLastIndex(({ dateMs }) => (dateMs ?? 0) <= fromMs);
    startMs = segments[first]?.dateMs ?? 0;
    return segments.slice(first, first + 2);
  });
  expect(sizeIn(file)).toBe(`${WIDTH}x${HEIGHT}`);
  const raw = runFfmpeg(
    ['-i', 'pipe:0', '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray'],
    file,
  );
  const bytes = WIDTH * HEIGHT;
  return Array.from({ length: raw.length / bytes }, (_, index) => {
    const data = raw.subarray(index * bytes, (index + 1) * bytes);
    const reading = readPicture({ width: WIDTH, height: HEIGHT, data, format: 'luma' });
    if (!reading) throw new Error('a frame has no readable time code');
    return { atMs: startMs + (index * 1_000) / FPS, unixMs: reading.unixMs };
  }).filter(({ atMs }) => intervalAt(atMs) === interval);
}
