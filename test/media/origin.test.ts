import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { type Harness, startService } from '../support/harness/harness.ts';
import { playTestPicture } from '../support/media/test-source.ts';

// Requests of players for real video over HTTP, before and after a restart.

const POLL_MS = 50;
const LIVE_SEGMENTS = 4;
const MEDIA = { preset: 'ultrafast', sourceGraceMs: 1_000 };

let directory: string;
let service: Harness;
let streamId: string;
let source: Subprocess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fourbeat-origin-'));
  service = await startService({ clock: 'real', directory, media: MEDIA });
  streamId = await service.createStream({ recording: true });
  source = await playTestPicture(service, streamId, '192x108');
  await playlistWith((text) => segmentsIn(text).length >= LIVE_SEGMENTS);
}, 60_000);

afterAll(async () => {
  source.kill();
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

const get = (path: string, init?: RequestInit) =>
  fetch(`${service.url}/media/${streamId}/${path}`, init);

const segmentsIn = (playlist: string) => playlist.match(/^\w+\/\d+-\d+\.m4s$/gm) ?? [];

/** Waits until the first rendition's playlist meets the condition. */
async function playlistWith(condition: (text: string) => boolean): Promise<string> {
  for (;;) {
    const response = await get('v0.m3u8');
    const text = await response.text();
    if (response.ok && condition(text)) return text;
    await Bun.sleep(POLL_MS);
  }
}

/** Types of the top-level boxes of a file. */
function boxesOf(bytes: Uint8Array): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: string[] = [];
  for (let offset = 0; offset + 8 <= bytes.length; offset += view.getUint32(offset)) {
    names.push(String.fromCharCode(...bytes.subarray(offset + 4, offset + 8)));
  }
  return names;
}

async function expectRangesToMatch(): Promise<void> {
  const [path = ''] = segmentsIn(await playlistWith(() => true));
  const whole = await (await get(path)).bytes();
  const head = await get(path, { method: 'HEAD' });
  expect(Number(head.headers.get('content-length'))).toBe(whole.length);
  const middle = whole.length >> 1;
  const parts = await Promise.all(
    [`bytes=0-${middle - 1}`, `bytes=${middle}-`].map((Range) => get(path, { headers: { Range } })),
  );
  expect(parts.map(({ status }) => status)).toEqual([206, 206]);
  const bytes = await Promise.all(parts.map((part) => part.bytes()));
  expect(Buffer.concat(bytes).equals(whole)).toBe(true);
}

describe('a live stream', () => {
  test('[M-20] [M-24] every file that the playlists name exists with its media type', async () => {
    const master = await (await get('master.m3u8')).text();
    const playlists = [...master.matchAll(/(?:URI="|^)([va]\d\.m3u8)/gm)].map(([, name]) => name);
    expect([...new Set(playlists)].sort()).toEqual(['a0.m3u8', 'v0.m3u8', 'v1.m3u8', 'v2.m3u8']);
    for (const name of playlists) {
      const playlist = await (await get(name ?? '')).text();
      const type = name?.startsWith('a') ? 'audio/mp4' : 'video/mp4';
      const init = await get(/EXT-X-MAP:URI="([^"]+)"/.exec(playlist)?.[1] ?? '');
      expect([init.status, init.headers.get('content-type')]).toEqual([200, type]);
      expect(boxesOf(await init.bytes())).toEqual(['ftyp', 'moov']);
      const segments = segmentsIn(playlist);
      expect(segments.length).toBeGreaterThanOrEqual(LIVE_SEGMENTS);
      for (const path of segments) {
        const segment = await get(path);
        expect([segment.status, segment.headers.get('content-type')]).toEqual([200, type]);
        expect(boxesOf(await segment.bytes())).toContain('moof');
      }
    }
    const manifest = await get('manifest.mpd');
    expect([manifest.status, manifest.headers.get('content-type')]).toEqual([
      200,
      'application/dash+xml',
    ]);
  });

  test('[M-22] range requests return the segment, from memory', () => expectRangesToMatch());

  test('[M-31] the ingest path and unknown files are not served as video', async () => {
    expect((await get('v0/1795000000000-0.m4s')).status).toBe(404);
    expect((await get('nothing.txt')).status).toBe(404);
    // The ingest path accepts WebSockets only.
    expect((await get('ingest')).status).toBeGreaterThanOrEqual(400);
  });
});

test('[M-27] a recording is unchanged after its end and a restart', async () => {
  source.kill('SIGINT');
  await source.exited;
  const text = await playlistWith((each) => each.includes('#EXT-X-ENDLIST'));
  const paths = segmentsIn(text);
  const read = () =>
    Promise.all(paths.map(async (path) => Bun.hash(await (await get(path)).bytes())));
  const before = await read();
  await service.close();
  service = await startService({ clock: 'real', directory, media: MEDIA });
  const again = await get('v0.m3u8');
  expect(await again.text()).toBe(text);
  expect(await read()).toEqual(before);
  expect(again.headers.get('cache-control')).toBe('public, max-age=60');
  // After a restart, segments come from disk.
  await expectRangesToMatch();
}, 30_000);
