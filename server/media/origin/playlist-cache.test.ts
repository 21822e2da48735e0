import { expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { FakeStream } from '../../../test/support/media/origin-fixture.ts';
import { gzipped, PlaylistCache } from './playlist-cache.ts';

test('a playlist is rendered once until its stream changes', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  let renders = 0;
  const render = () => `render ${renders++}`;
  const first = cache.get(stream, 'a', render);
  expect(cache.get(stream, 'a', render)).toBe(first);
  expect(cache.get(stream, 'b', render)?.plain).not.toEqual(first?.plain);
  stream.addSegment();
  const next = cache.get(stream, 'a', render);
  expect(new TextDecoder().decode(next?.plain)).toBe('render 2');
  expect(next?.etag).not.toBe(first?.etag);
  expect(renders).toBe(3);
});

test('a playlist is compressed once and then available synchronously', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const render = () => {
    const playlist = cache.get(stream, 'a', () => 'the same');
    if (!playlist) throw new Error('no playlist');
    return playlist;
  };
  const [a, b] = [gzipped(render()), gzipped(render())];
  expect(a).toBeInstanceOf(Promise);
  expect(b).toBe(a);
  const bytes = await a;
  expect(gunzipSync(bytes).toString()).toBe('the same');
  expect(gzipped(render())).toBe(bytes);
  // The stream changed, but the text did not.
  stream.addSegment();
  expect(gzipped(render())).toBe(bytes);
});

test('all playlists of a stream with nine tracks that was reopened are cached', () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const kinds = ['playlist', 'recording', 'playlist 1', 'recording 1'];
  const keys = Array.from({ length: 9 }, (_, track) =>
    kinds.flatMap((kind) => [`${kind} ${track}`, `${kind} ${track} skip`]),
  ).flat();
  let renders = 0;
  const render = () => `render ${renders++}`;
  for (const key of [...keys, ...keys]) cache.get(stream, key, render);
  expect(renders).toBe(keys.length);
});

test('[S-19] playlists of a stream that was reopened often are cached', () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  let renders = 0;
  const render = () => `render ${renders++}`;
  const tracks = Array.from({ length: 8 }, (_, track) => `playlist ${track}`);
  const playlistsOf = (session: number) => tracks.map((key) => `${key} ${session}`);
  for (let session = 0; session < 40; session++) {
    for (const key of playlistsOf(session)) cache.get(stream, key, render);
    stream.addSegment();
  }
  renders = 0;
  for (const key of [...playlistsOf(40), ...playlistsOf(40)]) cache.get(stream, key, render);
  expect(renders).toBe(tracks.length);
});

test('the playlists of a stream that is often requested stay in the cache, and others leave it', () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const textOf = (key: string, text: string) =>
    new TextDecoder().decode(cache.get(stream, key, () => text)?.plain);
  textOf('live', 'first');
  for (let other = 0; other < 200; other++) {
    stream.addSegment();
    textOf('live', `live ${other}`);
    textOf(`other ${other}`, 'once');
    expect(textOf('live', 'again')).toBe(`live ${other}`);
  }
  expect(textOf('other 0', 'again')).toBe('again');
  expect(textOf('other 199', 'again')).toBe('once');
});

test('an empty result is not cached', () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream();
  expect(cache.get(stream, 'a', () => null)).toBeNull();
  expect(cache.get(stream, 'a', () => 'now')).not.toBeNull();
});
