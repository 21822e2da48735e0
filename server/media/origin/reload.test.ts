import { afterEach, expect, test } from 'bun:test';
import {
  FakePlayable,
  listenOrigin,
  type OriginFixture,
  STREAM,
} from '../../../test/support/media/origin-fixture.ts';

const fixtures: OriginFixture[] = [];

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    expect(fixture.broken).toEqual([]);
    await fixture.stop();
  }
});

/** Three segments of two parts, and one part more, with low latency. */
function lowLatency(): { playable: FakePlayable; fixture: OriginFixture } {
  const playable = new FakePlayable({ partMs: 500 }).begin();
  for (let i = 0; i < 3; i++) playable.addPart().addPart().addSegment();
  playable.addPart();
  const fixture = listenOrigin(() => playable);
  fixtures.push(fixture);
  return { playable, fixture };
}

/** Until so many requests are held: then they have been read. */
async function untilHeld({ origin }: OriginFixture, count: number): Promise<void> {
  while (origin.stats().held !== count) await Bun.sleep(1);
}

const playlist = (query: string) => `${STREAM}/v0.m3u8?${query}`;

test.each([
  ['_HLS_msn=0', '1795000000000-3.0.m4s'],
  ['_HLS_msn=2', '1795000000000-3.0.m4s'],
  ['_HLS_msn=3&_HLS_part=0', '1795000000000-3.0.m4s'],
  ['_HLS_msn=2&_HLS_part=1', '1795000000000-3.0.m4s'],
  // Of a segment of two parts the third is the first of the next.
  ['_HLS_msn=2&_HLS_part=2', '1795000000000-3.0.m4s'],
  ['other=1', '1795000000000-3.0.m4s'],
])('[M-30] %s is there, and answered at once', async (query, part) => {
  const { fixture } = lowLatency();
  const response = await fixture.get(playlist(query));
  expect(response.status).toBe(200);
  expect(await response.text()).toContain(`URI="v0/${part}"`);
  const isReload = query.startsWith('_HLS_msn');
  expect(response.headers.get('cache-control')).toBe(
    isReload ? 'public, max-age=6' : 'public, no-cache',
  );
});

test('[M-30] a part to come is held until it is there, and made once for all who wait', async () => {
  const { fixture, playable } = lowLatency();
  const held = Array.from({ length: 20 }, () => fixture.get(playlist('_HLS_msn=3&_HLS_part=1')));
  const whole = fixture.get(playlist('_HLS_msn=3'));
  const next = fixture.get(playlist('_HLS_msn=4&_HLS_part=0'));
  const afterLast = fixture.get(playlist('_HLS_msn=3&_HLS_part=2'));
  await untilHeld(fixture, 23);
  playable.addPart();
  for (const response of await Promise.all(held)) {
    expect(await response.text()).toContain(
      '#EXT-X-PART:DURATION=0.500000,URI="v0/1795000000000-3.1.m4s"',
    );
  }
  await untilHeld(fixture, 3);
  playable.addSegment();
  expect(await (await whole).text()).toContain('\nv0/1795000000000-3.m4s\n');
  await untilHeld(fixture, 2);
  playable.addPart();
  expect(await (await next).text()).toContain('URI="v0/1795000000000-4.0.m4s"');
  expect(await (await afterLast).text()).toContain('URI="v0/1795000000000-4.0.m4s"');
  await untilHeld(fixture, 0);
});

test('[M-30] a part that is hinted at is sent as soon as it is there', async () => {
  const { fixture, playable } = lowLatency();
  const held = fixture.get(`${STREAM}/v0/1795000000000-3.1.m4s`);
  const sound = fixture.get(`${STREAM}/a0/1795000000000-3.1.m4s`);
  const ofNext = fixture.get(`${STREAM}/v0/1795000000000-4.0.m4s`);
  await untilHeld(fixture, 3);
  playable.addPart();
  expect(await (await held).text()).toBe('part 3.1 v0');
  const response = await sound;
  expect(await response.text()).toBe('part 3.1 a0');
  expect(response.headers.get('content-type')).toBe('audio/mp4');
  // It turns out that the segment has a third part, and later that it has no fourth.
  const third = fixture.get(`${STREAM}/v0/1795000000000-3.2.m4s`);
  await untilHeld(fixture, 2);
  playable.addPart();
  expect((await third).status).toBe(200);
  const fourth = fixture.get(`${STREAM}/v0/1795000000000-3.3.m4s`);
  await untilHeld(fixture, 2);
  playable.addSegment();
  expect((await fourth).status).toBe(404);
  playable.addPart();
  expect(await (await ofNext).text()).toBe('part 4.0 v0');
});

test.each([
  'v0/1795000000000-3.2.m4s',
  'v0/1795000000000-4.1.m4s',
  'v0/1795000000000-5.0.m4s',
  'v3/1795000000000-3.1.m4s',
  'v0/1795000000000-2.2.m4s',
])('[M-31] a part that nobody hinted at is 404 at once: %s', async (path) => {
  const { fixture } = lowLatency();
  expect((await fixture.get(`${STREAM}/${path}`)).status).toBe(404);
});

test.each([
  '_HLS_msn=5',
  '_HLS_msn=999999',
  '_HLS_msn=3&_HLS_part=7',
  '_HLS_msn=4&_HLS_part=7',
  '_HLS_part=1',
  '_HLS_msn=-1',
  '_HLS_msn=',
  '_HLS_msn=1.5',
  '_HLS_msn=01',
  '_HLS_msn=1e3',
  '_HLS_msn=9999999999999999',
  '_HLS_msn=3&_HLS_msn=3',
  '_HLS_msn=3&_HLS_part=x',
  '_HLS_msn=3&_HLS_part=1&_HLS_part=1',
  '_HLS_skip=NO',
  '_HLS_skip=',
  '_HLS_skip=YES&_HLS_skip=YES',
  '_HLS_msn=%00',
])('[M-30] [M-31] too far ahead, or not understood, is 400: %s', async (query) => {
  const { fixture } = lowLatency();
  const response = await fixture.get(playlist(query));
  expect(response.status).toBe(400);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(fixture.origin.stats().held).toBe(0);
});

test('[M-31] who would wait for a track that there is not hears 404', async () => {
  const { fixture } = lowLatency();
  expect((await fixture.get(`${STREAM}/v5.m3u8?_HLS_msn=3`)).status).toBe(404);
});

test('[M-30] what does not come in time is 503', async () => {
  const { fixture } = lowLatency();
  const response = await fixture.get(playlist('_HLS_msn=3&_HLS_part=1'));
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(fixture.origin.stats().held).toBe(0);
});

test('[M-30] whoever waits when the stream ends gets its end', async () => {
  const { fixture, playable } = lowLatency();
  const held = fixture.get(playlist('_HLS_msn=3'));
  const part = fixture.get(`${STREAM}/v0/1795000000000-3.1.m4s`);
  await untilHeld(fixture, 2);
  playable.end();
  expect(await (await held).text()).toContain('#EXT-X-ENDLIST');
  expect((await part).status).toBe(404);
  // From then on there is nothing to wait for, and nothing is too far ahead.
  expect((await fixture.get(playlist('_HLS_msn=99'))).status).toBe(200);
});

test('[M-30] a drain lets all go that are held, and holds no more', async () => {
  const { fixture } = lowLatency();
  const held = [playlist('_HLS_msn=3'), `${STREAM}/v0/1795000000000-3.1.m4s`].map((path) =>
    fixture.get(path),
  );
  await untilHeld(fixture, 2);
  fixture.origin.drain();
  for (const response of await Promise.all(held)) expect(response.status).toBe(503);
  expect((await fixture.get(playlist('_HLS_msn=3'))).status).toBe(503);
  expect((await fixture.get(playlist('_HLS_msn=2'))).status).toBe(200);
});

test('[M-24] a delta update leaves out what is old', async () => {
  const playable = new FakePlayable().begin();
  for (let i = 0; i < 40; i++) playable.addSegment();
  const fixture = listenOrigin(() => playable);
  fixtures.push(fixture);
  const whole = await fixture.get(playlist(''));
  const delta = await fixture.get(playlist('_HLS_skip=YES'));
  expect(await whole.text()).toContain('\nv0/1795000000000-5.m4s\n');
  const text = await delta.text();
  expect(text).toContain('#EXT-X-SKIP:SKIPPED-SEGMENTS=');
  expect(text).not.toContain('\nv0/1795000000000-5.m4s\n');
});
