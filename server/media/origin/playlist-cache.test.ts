import { expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { FakeStream } from '../../../test/support/media/origin-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Rendering } from '../playlist/rendering.ts';
import type { Presentation } from '../segment.ts';
import { gzipped, PlaylistCache, type Render, type RenderedPlaylist } from './playlist-cache.ts';

/** Renders this text at once; null: nothing. */
function rendering(text: () => string | null): Render {
  return function* (): Rendering {
    yield;
    const piece = text();
    return piece === null ? null : [piece];
  };
}

/** Renders the number of segments; each pause takes 3 ms. */
function* renderSlowly({ segments }: Presentation): Rendering {
  for (let pause = 0; pause < 12; pause++) {
    Bun.sleepSync(3);
    yield;
  }
  return [`${segments.length} segments`];
}

const textOf = (playlist: RenderedPlaylist | null) => new TextDecoder().decode(playlist?.plain);

test('a playlist is rendered once until its stream changes', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  let renders = 0;
  const render = rendering(() => `render ${renders++}`);
  const first = await cache.get(stream, 'a', render);
  expect(cache.get(stream, 'a', render)).toBe(first);
  expect((await cache.get(stream, 'b', render))?.plain).not.toEqual(first?.plain);
  stream.addSegment();
  const next = await cache.get(stream, 'a', render);
  expect(textOf(next)).toBe('render 2');
  expect(next?.etag).not.toBe(first?.etag);
  expect(renders).toBe(3);
});

test('a playlist is compressed once and then available synchronously', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const render = async () => {
    const playlist = await cache.get(
      stream,
      'a',
      rendering(() => 'the same'),
    );
    if (!playlist) throw new Error('no playlist');
    return playlist;
  };
  const [a, b] = [gzipped(await render()), gzipped(await render())];
  expect(a).toBeInstanceOf(Promise);
  expect(b).toBe(a);
  const bytes = await a;
  expect(gunzipSync(bytes).toString()).toBe('the same');
  expect(gzipped(await render())).toBe(bytes);
  // The stream changed, but the text did not.
  stream.addSegment();
  expect(gzipped(await render())).toBe(bytes);
});

test('all playlists of a stream with nine tracks that was reopened are cached', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const kinds = ['playlist', 'recording', 'playlist 1', 'recording 1'];
  const keys = Array.from({ length: 9 }, (_, track) =>
    kinds.flatMap((kind) => [`${kind} ${track}`, `${kind} ${track} skip`]),
  ).flat();
  let renders = 0;
  const render = rendering(() => `render ${renders++}`);
  for (const key of [...keys, ...keys]) await cache.get(stream, key, render);
  expect(renders).toBe(keys.length);
});

test('[S-19] playlists of a stream that was reopened often are cached', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  let renders = 0;
  const render = rendering(() => `render ${renders++}`);
  const tracks = Array.from({ length: 8 }, (_, track) => `playlist ${track}`);
  const playlistsOf = (session: number) => tracks.map((key) => `${key} ${session}`);
  for (let session = 0; session < 40; session++) {
    for (const key of playlistsOf(session)) await cache.get(stream, key, render);
    stream.addSegment();
  }
  renders = 0;
  for (const key of [...playlistsOf(40), ...playlistsOf(40)]) await cache.get(stream, key, render);
  expect(renders).toBe(tracks.length);
});

test('[S-19] playlists of an earlier session stay while the open session goes on, and delay no live show', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const open = new FakeStream().startEpoch();
  for (let segment = 0; segment < 3; segment++) stream.addSegment();
  stream.reopenedMs = stream.presentation().segments.at(-1)?.startMs ?? 0;
  for (let segment = 0; segment < 40; segment++) stream.addSegment();
  let renders = 0;
  const render = rendering(() => `render ${renders++}`);
  for (let round = 0; round < 3; round++) {
    await cache.get(stream, 'earlier', render, { isOfEarlierSession: true });
    stream.addSegment();
  }
  expect(renders).toBe(1);
  stream.removeSegment();
  const earlier = cache.get(stream, 'earlier', renderSlowly, { isOfEarlierSession: true });
  expect(cache.get(open, 'live', render)).not.toBeInstanceOf(Promise);
  expect(textOf(await earlier)).toBe('45 segments');
});

test('[M-30] a delta update does not wait while full playlists of live streams are rendered', async () => {
  const cache = new PlaylistCache();
  const [busy, other] = [new FakeStream().startEpoch(), new FakeStream().startEpoch()];
  const full = ['a', 'b'].map((key) => cache.get(busy, key, renderSlowly));
  const update = rendering(() => 'update');
  expect(cache.get(other, 'whole', update)).toBeInstanceOf(Promise);
  const options = { isDeltaUpdate: true };
  expect(cache.get(other, 'delta', update, options)).not.toBeInstanceOf(Promise);
  await Promise.all(full);
});

test('[M-30] accounts take turns while the playlists of live streams are rendered', async () => {
  const cache = new PlaylistCache();
  const ended: string[] = [];
  const request = async (account: string, key: string) => {
    const stream = Object.assign(new FakeStream().startEpoch(), { account });
    await cache.get(stream, key, renderSlowly);
    ended.push(account);
  };
  const many = Array.from({ length: 10 }, (_, n) => request('many', `${n}`));
  await request('one', 'playlist');
  expect(ended.length).toBeLessThanOrEqual(4);
  await Promise.all(many);
});

test('the playlists of a stream that is often requested stay in the cache, and others leave it', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const textNow = async (key: string, text: string) =>
    textOf(
      await cache.get(
        stream,
        key,
        rendering(() => text),
      ),
    );
  await textNow('live', 'first');
  for (let other = 0; other < 200; other++) {
    stream.addSegment();
    await textNow('live', `live ${other}`);
    await textNow(`other ${other}`, 'once');
    expect(await textNow('live', 'again')).toBe(`live ${other}`);
  }
  expect(await textNow('other 0', 'again')).toBe('again');
  expect(await textNow('other 199', 'again')).toBe('once');
});

test('an empty result is not cached', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream();
  expect(
    await cache.get(
      stream,
      'a',
      rendering(() => null),
    ),
  ).toBeNull();
  expect(
    await cache.get(
      stream,
      'a',
      rendering(() => 'now'),
    ),
  ).not.toBeNull();
});

test('[M-27] a long playlist is rendered once for all requests, and others run meanwhile', async () => {
  for (const stream of [new FakeStream(), new FakeStream().end()]) {
    const cache = new PlaylistCache();
    let renders = 0;
    const render: Render = (presentation) => {
      renders++;
      return renderSlowly(presentation);
    };
    let turns = 0;
    const others = setInterval(() => turns++, 0);
    const requests = [1, 2, 3].map(() => cache.get(stream, 'a', render));
    const [first, ...shared] = await Promise.all(requests);
    clearInterval(others);
    expect(shared).toEqual([first, first] as typeof shared);
    expect(renders).toBe(1);
    expect(turns).toBeGreaterThanOrEqual(2);
  }
});

test('[M-30] a request gets no playlist from before it, also when one is being rendered', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch().addSegment();
  const before = cache.get(stream, 'a', renderSlowly);
  stream.addSegment();
  const after = [1, 2].map(() => cache.get(stream, 'a', renderSlowly));
  expect(textOf(await before)).toBe('1 segments');
  const [one, other] = await Promise.all(after);
  expect(textOf(one ?? null)).toBe('2 segments');
  expect(other).toBe(one as typeof other);
});

test('[M-27] playlists of 32 ended streams wait at most, and those of a live stream for none of them', async () => {
  const cache = new PlaylistCache();
  const order: string[] = [];
  const get = async (stream: FakeStream, name: string) => {
    await cache.get(stream, name, renderSlowly, { network: () => name });
    order.push(name);
  };
  const archive = Array.from({ length: 33 }, () => new FakeStream().end());
  const waiting = archive.slice(0, 32).map((stream, n) => get(stream, `ended ${n}`));
  waiting.push(get(archive[0] as FakeStream, 'another'));
  await expect(get(archive[32] as FakeStream, 'refused')).rejects.toThrow(Unavailable);
  await get(new FakeStream().startEpoch(), 'live');
  expect(order.indexOf('live')).toBeLessThan(5);
  await Promise.all(waiting);
  await get(archive[32] as FakeStream, 'admitted');
  expect(order).toHaveLength(35);
}, 20_000);

test('[M-27] one network takes half of the places of ended streams, and its playlists take turns with those of others', async () => {
  const cache = new PlaylistCache();
  const order: string[] = [];
  const get = async (network: string) => {
    const stream = new FakeStream().end();
    await cache.get(stream, 'a', renderSlowly, { network: () => network });
    order.push(network);
  };
  const waiting = Array.from({ length: 16 }, () => get('one'));
  await expect(get('one')).rejects.toThrow(Unavailable);
  waiting.push(...Array.from({ length: 8 }, () => get('another')));
  await expect(get('another')).rejects.toThrow(Unavailable);
  await Promise.all(waiting);
  expect(order.slice(0, 6).filter((network) => network === 'another')).toHaveLength(2);
}, 20_000);

test('[M-27] a playlist that one network requested is not late for another', async () => {
  const cache = new PlaylistCache();
  const order: string[] = [];
  const streams = Array.from({ length: 12 }, () => new FakeStream().end());
  const get = async (stream: FakeStream, network: string) => {
    await cache.get(stream, 'a', renderSlowly, { network: () => network });
    order.push(network);
  };
  const crawled = streams.map((stream) => get(stream, 'crawler'));
  await Promise.all([...crawled, get(streams[11] as FakeStream, 'viewer')]);
  expect(order.indexOf('viewer')).toBeLessThan(5);
}, 20_000);

test('[M-25] playlists from before a reopening are removed', async () => {
  const cache = new PlaylistCache();
  const stream = new FakeStream().startEpoch();
  const first = new WeakRef(
    (await cache.get(
      stream,
      'session 0',
      rendering(() => 'text 0'),
    )) as object,
  );
  for (let session = 1; session < 10; session++) {
    stream.reopenedMs = session;
    stream.addSegment();
    await cache.get(
      stream,
      `session ${session}`,
      rendering(() => `text ${session}`),
    );
  }
  await Bun.sleep(0);
  Bun.gc(true);
  expect(first.deref()).toBeUndefined();
});
