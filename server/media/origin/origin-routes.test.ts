import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  FakeStream,
  listenOrigin,
  type OriginFixture,
} from '../../../test/support/media/origin-fixture.ts';
import { BEGIN_MS, STREAM } from '../../../test/support/media/segment-store-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';

const IDLE = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const UNAVAILABLE = '2b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const UNKNOWN = '3b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const LONG = '4b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const SHORT = '5b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const LOW_LATENCY = '8b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const ENDED = '6b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
const REOPENED = '7b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

let fixture: OriginFixture;
let directory: string;

function withSegments(stream: FakeStream, count: number): FakeStream {
  stream.startEpoch();
  for (let i = 0; i < count; i++) stream.addSegment();
  return stream;
}

const stream = withSegments(new FakeStream(), 40);
const streams: Record<string, FakeStream> = {
  [STREAM]: stream,
  [IDLE]: new FakeStream(),
  [LONG]: withSegments(new FakeStream({ segmentMs: 6000 }), 3),
  [SHORT]: withSegments(new FakeStream({ segmentMs: 500 }), 3),
  [LOW_LATENCY]: withSegments(new FakeStream({ partMs: 334 }), 3),
  [ENDED]: withSegments(new FakeStream(), 3).end(),
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'origin-'));
  fixture = listenOrigin((streamId) => {
    if (streamId === UNAVAILABLE) throw new Unavailable('The database is unavailable.');
    return streams[streamId] ?? null;
  });
});

afterAll(async () => {
  await fixture.stop();
  await rm(directory, { recursive: true, force: true });
  expect(fixture.defects).toEqual([]);
});

const PATHS = {
  master: 'master.m3u8',
  manifest: 'manifest.mpd',
  video: 'v0.m3u8',
  audio: 'a0.m3u8',
  initVideo: 'v0/init-1795000000000.mp4',
  initAudio: 'a0/init-1795000000000.mp4',
  segmentVideo: 'v0/1795000000000-12.m4s',
  segmentAudio: 'a0/1795000000000-12.m4s',
};

describe('files', () => {
  test.each([
    [PATHS.master, 'application/vnd.apple.mpegurl', '#EXTM3U'],
    [PATHS.manifest, 'application/dash+xml', '<MPD'],
    [PATHS.video, 'application/vnd.apple.mpegurl', 'v0/1795000000000-39.m4s'],
    [PATHS.audio, 'application/vnd.apple.mpegurl', 'a0/1795000000000-39.m4s'],
    [PATHS.initVideo, 'video/mp4', 'init v0'],
    [PATHS.initAudio, 'audio/mp4', 'init a0'],
    [PATHS.segmentVideo, 'video/mp4', 'segment 12 v0'],
    [PATHS.segmentAudio, 'audio/mp4', 'segment 12 a0'],
  ])('[M-20] %s has content type %s', async (path, type, part) => {
    const response = await fixture.get(`${STREAM}/${path}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(await response.text()).toContain(part);
    const upper = await fixture.get(`${STREAM.toUpperCase()}/${path}`);
    expect(upper.status).toBe(200);
  });

  test.each([
    [`${STREAM}/${PATHS.initVideo}`, 'public, max-age=31536000, immutable'],
    [`${STREAM}/${PATHS.segmentAudio}`, 'public, max-age=31536000, immutable'],
    [`${STREAM}/${PATHS.video}`, 'public, max-age=1'],
    [`${STREAM}/${PATHS.manifest}`, 'public, max-age=1'],
    [`${STREAM}/${PATHS.master}`, 'public, max-age=5'],
    [`${LONG}/${PATHS.video}`, 'public, max-age=3'],
    [`${SHORT}/${PATHS.video}`, 'public, no-cache'],
    [`${LOW_LATENCY}/${PATHS.video}`, 'public, no-cache'],
    [`${LOW_LATENCY}/${PATHS.manifest}`, 'public, no-cache'],
    [`${ENDED}/${PATHS.video}`, 'public, max-age=60'],
    [`${ENDED}/${PATHS.manifest}`, 'public, max-age=5'],
    [`${STREAM}/v0/1795000000000-40.m4s`, 'no-store'],
    [`${IDLE}/${PATHS.master}`, 'no-store'],
    [`${STREAM}/v7.m3u8`, 'no-store'],
  ])('[M-21] %s has Cache-Control %s', async (path, cacheControl) => {
    const response = await fixture.get(path);
    expect(response.headers.get('cache-control')).toBe(cacheControl);
    expect(response.status).toBe(cacheControl === 'no-store' ? 404 : 200);
  });

  test('[S-19] a reopened stream has new live playlists, and those that ended stay ended', async () => {
    const show = withSegments(new FakeStream(), 3).end();
    streams[REOPENED] = show;
    const read = async (name: string) => (await fixture.get(`${REOPENED}/${name}`)).text();
    const ended = await read('v0.m3u8');
    expect(ended).toContain('#EXT-X-ENDLIST');
    const reopenedMs = BEGIN_MS + 3_000;
    show.reopen(reopenedMs).addSegment();
    expect(await read('master.m3u8')).toContain(`\nv0-${reopenedMs}.m3u8\n`);
    const live = await read(`v0-${reopenedMs}.m3u8`);
    expect(live).toContain('v0/1795000000000-3.m4s');
    expect(live).toContain('v0/1795000000000-2.m4s');
    expect(live).not.toContain('#EXT-X-ENDLIST');
    expect(await read('v0.m3u8')).toBe(ended);
    const old = await fixture.get(`${REOPENED}/v0.m3u8`);
    expect(old.headers.get('cache-control')).toBe('public, max-age=60');
    for (const name of ['v0-1.m3u8', `v0-${reopenedMs}-recording.m3u8`]) {
      expect((await fixture.get(`${REOPENED}/${name}`)).status).toBe(404);
    }
    show.end();
    expect(await read(`v0-${reopenedMs}.m3u8`)).toBe(`${live}#EXT-X-ENDLIST\n`);
  });

  test('[M-21] a conditional request gets 304 when the file is unchanged', async () => {
    const path = `${SHORT}/v0.m3u8`;
    const etag = (await fixture.get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"\w+"$/);
    const recheck = () => fixture.get(path, { headers: { 'If-None-Match': `"other", ${etag}` } });
    const same = await recheck();
    expect([same.status, await same.text(), same.headers.get('etag')]).toEqual([304, '', etag]);
    streams[SHORT]?.addSegment();
    const changed = await recheck();
    expect(changed.status).toBe(200);
    expect(changed.headers.get('etag')).not.toBe(etag);
    const piece = await fixture.get(`${STREAM}/v0/1795000000000-1.m4s`);
    const tag = piece.headers.get('etag') ?? '';
    const unchanged = await fixture.get(`${STREAM}/v0/1795000000000-1.m4s`, {
      headers: { 'If-None-Match': tag },
    });
    expect(unchanged.status).toBe(304);
  });

  test('[M-21] a playlist is compressed for clients that accept gzip', async () => {
    const path = `${STREAM}/v0.m3u8`;
    const plain = await fixture.get(path, { headers: { 'Accept-Encoding': 'br' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    const text = await plain.text();
    const init = { headers: { 'Accept-Encoding': 'br, gzip;q=0.5' }, decompress: false };
    for (let attempt = 0; attempt < 2; attempt++) {
      const small = await fixture.get(path, init);
      expect(small.headers.get('content-encoding')).toBe('gzip');
      expect(small.headers.get('etag')).toBe(plain.headers.get('etag'));
      const bytes = await small.bytes();
      expect(bytes.length).toBe(Number(small.headers.get('content-length')));
      expect(gunzipSync(bytes).toString()).toBe(text);
    }
    const refused = { headers: { 'Accept-Encoding': 'gzip;q=0' }, decompress: false };
    expect((await fixture.get(path, refused)).headers.get('content-encoding')).toBeNull();
  });

  test('[M-23] responses allow the configured CORS origin', async () => {
    for (const path of Object.values(PATHS)) {
      const response = await fixture.get(`${STREAM}/${path}`);
      expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
      const exposed = response.headers.get('access-control-expose-headers')?.split(', ');
      for (const name of ['Content-Length', 'Content-Range', 'Date', 'ETag']) {
        expect(exposed).toContain(name);
      }
      const preflight = await fixture.get(`${STREAM}/${path}`, { method: 'OPTIONS' });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Range');
      expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
      expect(preflight.headers.get('access-control-allow-origin')).toBe('https://app.example');
    }
  });

  test('stats count responses and bytes', async () => {
    const before = fixture.origin.stats();
    const [segments, bytes] = [before.served.segment, before.bytes];
    await fixture.get(`${STREAM}/v0/1795000000000-3.m4s`);
    await fixture.get(`${STREAM}/v0/1795000000000-3.m4s`, { method: 'HEAD' });
    await fixture.get(`${STREAM}/v0/1795000000000-3.m4s`, { headers: { Range: 'bytes=0-3' } });
    const { served, bytes: after, pendingRequests } = fixture.origin.stats();
    expect([served.segment - segments, after - bytes]).toEqual([3, 'segment 3 v0'.length + 4]);
    expect(pendingRequests).toBe(0);
  });

  test('stream lookups are cached for a moment', async () => {
    const other = listenOrigin(() => stream);
    for (let seq = 0; seq < 20; seq++) await other.get(`${STREAM}/v0/${BEGIN_MS}-${seq}.m4s`);
    expect(other.lookUps.length).toBeLessThan(5);
    await other.stop();
  });
});

describe('byte ranges', () => {
  const path = `${STREAM}/v0/1795000000000-12.m4s`;
  const whole = 'segment 12 v0';
  const { length } = whole;

  test.each([
    ['bytes=0-3', 206, 'segm', `bytes 0-3/${length}`],
    ['bytes=8-', 206, '12 v0', `bytes 8-12/${length}`],
    ['bytes=-2', 206, 'v0', `bytes 11-12/${length}`],
    ['bytes=-99', 206, whole, `bytes 0-12/${length}`],
    ['bytes=12-99', 206, '0', `bytes 12-12/${length}`],
    ['BYTES=0-0', 206, 's', `bytes 0-0/${length}`],
    ['bytes=13-', 416, null, `bytes */${length}`],
    ['bytes=-0', 416, null, `bytes */${length}`],
    ['bytes=99-100', 416, null, `bytes */${length}`],
    ['bytes=0-1,4-5', 200, whole, null],
    ['bytes=5-2', 200, whole, null],
    ['bytes=-', 200, whole, null],
    ['bytes=a-b', 200, whole, null],
    ['frames=0-1', 200, whole, null],
    ['bytes=99999999999999999999-', 200, whole, null],
  ])('[M-22] Range: %s gets %d', async (range, status, text, contentRange) => {
    const response = await fixture.get(path, { headers: { Range: range } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-range')).toBe(contentRange);
    if (text !== null) expect(await response.text()).toBe(text);
    else expect(await response.json()).toMatchObject({ status, title: 'Range Not Satisfiable' });
  });

  test('[M-22] If-Range gets 206 when the entity tag matches, else 200', async () => {
    const etag = (await fixture.get(path)).headers.get('etag') ?? '';
    const getRange = (ifRange: string) =>
      fixture.get(path, { headers: { Range: 'bytes=0-3', 'If-Range': ifRange } });
    expect((await getRange(etag)).status).toBe(206);
    expect((await getRange(`W/${etag}`)).status).toBe(200);
    expect((await getRange('"other"')).status).toBe(200);
    expect((await getRange('Fri, 20 Nov 2026 12:00:00 GMT')).status).toBe(200);
  });

  test('[M-22] HEAD has the length and no body', async () => {
    const head = await fixture.get(path, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(length));
    expect(head.headers.get('accept-ranges')).toBe('bytes');
    expect(await head.text()).toBe('');
    const playlist = await fixture.get(`${STREAM}/v0.m3u8`, { method: 'HEAD' });
    expect(Number(playlist.headers.get('content-length'))).toBeGreaterThan(100);
  });

  test('[M-22] ranges work for a segment on disk, and a removed file gets 404', async () => {
    const file = join(directory, 'segments');
    await writeFile(file, `xxx${whole}yyy`);
    stream.files.set(12, () => Bun.file(file).slice(3, 3 + length));
    const response = await fixture.get(path);
    expect([await response.text(), response.headers.get('content-type')]).toEqual([
      whole,
      'video/mp4',
    ]);
    const part = await fixture.get(path, { headers: { Range: 'bytes=8-' } });
    expect([part.status, await part.text()]).toEqual([206, '12 v0']);
    const head = await fixture.get(path, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe(String(length));
    await unlink(file);
    expect((await fixture.get(path)).status).toBe(404);
    stream.files.clear();
  });

  test('[M-22] [M-31] a segment whose file is removed while its response begins gets 404', async () => {
    const file = join(directory, 'evicted');
    stream.files.set(12, () => {
      const bytes = Bun.file(file).slice(3, 3 + length);
      const exists = bytes.exists.bind(bytes);
      bytes.exists = async () => {
        const existed = await exists();
        await unlink(file);
        return existed;
      };
      return bytes;
    });
    for (const headers of [{}, { Range: 'bytes=8-' }]) {
      await writeFile(file, `xxx${whole}yyy`);
      const response = await fixture.get(path, { headers });
      expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
      expect(await response.json()).toMatchObject({ status: 404 });
    }
    stream.files.clear();
  });
});

describe('missing files', () => {
  test.each([
    `${UNKNOWN}/master.m3u8`,
    `${UNKNOWN}/v0/1795000000000-0.m4s`,
    'no-stream/master.m3u8',
    `${IDLE}/v0.m3u8`,
    `${IDLE}/manifest.mpd`,
    `${IDLE}/v0/init-1795000000000.mp4`,
    `${STREAM}/v9.m3u8`,
    `${STREAM}/v9/1795000000000-0.m4s`,
    `${STREAM}/v0/init-1.mp4`,
    `${STREAM}/v0/1795000000000-99.m4s`,
    `${STREAM}/v0/1795000000000-1.0.m4s`,
    `${STREAM}/v0/1795000000001-1.m4s`,
    `${STREAM}/v0/1.m4s`,
  ])('[M-31] %s gets a 404 problem', async (path) => {
    const response = await fixture.get(path, { headers: { Accept: 'application/problem+json' } });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await response.json()).toMatchObject({ status: 404, title: 'Not Found' });
  });

  test('[M-31] a removed segment gets 404', async () => {
    const stream = withSegments(new FakeStream(), 3);
    const other = listenOrigin(() => stream);
    expect((await other.get(`${STREAM}/v0/1795000000000-0.m4s`)).status).toBe(200);
    stream.removeSegment();
    expect((await other.get(`${STREAM}/v0/1795000000000-0.m4s`)).status).toBe(404);
    await other.stop();
  });

  test('[M-31] a playlist of a track that does not exist gets 404 without a look at the segments', async () => {
    const stream = withSegments(new FakeStream(), 3);
    const presentation = stream.presentation();
    let reads = 0;
    stream.presentation = () => ({
      ...presentation,
      get segments() {
        reads++;
        return presentation.segments;
      },
    });
    const other = listenOrigin(() => stream);
    expect((await other.get(`${STREAM}/v99.m3u8`)).status).toBe(404);
    expect(reads).toBe(0);
    expect((await other.get(`${STREAM}/v0.m3u8`)).status).toBe(200);
    expect(reads).toBeGreaterThan(0);
    await other.stop();
  });

  test('[M-31] other methods get 405', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fixture.get(`${STREAM}/master.m3u8`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
  });

  test('an unavailable database gets 503', async () => {
    const response = await fixture.get(`${UNAVAILABLE}/master.m3u8`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  });
});
