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

test('an empty result is not cached', () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream();
  expect(cache.get(stream, 'a', () => null)).toBeNull();
  expect(cache.get(stream, 'a', () => 'now')).not.toBeNull();
});
