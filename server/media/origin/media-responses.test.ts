import { expect, test } from 'bun:test';
import { FakeStream } from '../../../test/support/media/origin-fixture.ts';
import { MediaResponses } from './media-responses.ts';
import type { RenderedPlaylist } from './playlist-cache.ts';

const BYTES = 4_000_000;
const RESPONSES = 100;
const GROWTH_BYTES_MAX = 100_000_000;

const bytes = new Uint8Array(BYTES).fill(1);
const rendered: RenderedPlaylist = {
  ...{ version: 1, isEnded: false, reopenedMs: null },
  ...{ plain: bytes, etag: 'W/"a"', gzipped: bytes },
};
const responses = new MediaResponses('*');
const request = (headers: Record<string, string> = {}) => new Request('http://h/', { headers });
const playlist = (headers?: Record<string, string>) =>
  responses.playlist(
    rendered,
    { kind: 'master' },
    request(headers),
    new FakeStream().presentation(),
    false,
  );
const segment = (headers?: Record<string, string>) =>
  responses.media(bytes, { kind: 'segment', track: 'v0', epoch: 1, seq: 1 }, request(headers));

test.each([
  ['a playlist', () => playlist(), BYTES],
  ['a compressed playlist', () => playlist({ 'Accept-Encoding': 'gzip' }), BYTES],
  ['a segment', () => segment(), BYTES],
  ['a range of a segment', () => segment({ Range: 'bytes=1-' }), BYTES - 1],
] as const)(
  '[M-22] responses with %s share its bytes until they are read',
  async (_, respond, size) => {
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    const unread = await Promise.all(Array.from({ length: RESPONSES }, respond));
    expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_BYTES_MAX);
    expect(await unread.at(-1)?.bytes()).toEqual(bytes.subarray(0, size));
  },
);
