import { afterEach, expect, test } from 'bun:test';
import {
  FakeStream,
  listenOrigin,
  type OriginFixture,
} from '../../../test/support/media/origin-fixture.ts';
import { STREAM } from '../../../test/support/media/segment-store-fixture.ts';

const fixtures: OriginFixture[] = [];

afterEach(async () => {
  for (const fixture of fixtures.splice(0)) {
    expect(fixture.defects).toEqual([]);
    await fixture.stop();
  }
});

/** A low-latency stream with three segments of two parts, and one further part. */
function listenLowLatency(): { stream: FakeStream; fixture: OriginFixture } {
  const stream = new FakeStream({ partMs: 500 }).startEpoch();
  for (let i = 0; i < 3; i++) stream.addPart().addPart().addSegment();
  stream.addPart();
  const fixture = listenOrigin(() => stream);
  fixtures.push(fixture);
  return { stream, fixture };
}

/** Waits until this many requests are pending. */
async function untilPending({ origin }: OriginFixture, count: number): Promise<void> {
  while (origin.stats().pendingRequests !== count) await Bun.sleep(1);
}

const playlist = (query: string) => `${STREAM}/v0.m3u8?${query}`;

test.each([
  ['_HLS_msn=0', '1795000000000-3.0.m4s'],
  ['_HLS_msn=2', '1795000000000-3.0.m4s'],
  ['_HLS_msn=3&_HLS_part=0', '1795000000000-3.0.m4s'],
  ['_HLS_msn=2&_HLS_part=1', '1795000000000-3.0.m4s'],
  // A third part of a two-part segment is the first part of the next segment.
  ['_HLS_msn=2&_HLS_part=2', '1795000000000-3.0.m4s'],
  ['other=1', '1795000000000-3.0.m4s'],
])('[M-30] a request for existing %s gets a response at once', async (query, part) => {
  const { fixture } = listenLowLatency();
  const response = await fixture.get(playlist(query));
  expect(response.status).toBe(200);
  expect(await response.text()).toContain(`URI="v0/${part}"`);
  const isBlockingReload = query.startsWith('_HLS_msn');
  expect(response.headers.get('cache-control')).toBe(
    isBlockingReload ? 'public, max-age=6' : 'public, no-cache',
  );
});

test('[M-30] a blocking reload resolves when the requested part or segment exists', async () => {
  const { fixture, stream } = listenLowLatency();
  const pending = Array.from({ length: 20 }, () => fixture.get(playlist('_HLS_msn=3&_HLS_part=1')));
  const segmentReload = fixture.get(playlist('_HLS_msn=3'));
  const nextSegmentReload = fixture.get(playlist('_HLS_msn=4&_HLS_part=0'));
  const afterLast = fixture.get(playlist('_HLS_msn=3&_HLS_part=2'));
  await untilPending(fixture, 23);
  stream.addPart();
  for (const response of await Promise.all(pending)) {
    expect(await response.text()).toContain(
      '#EXT-X-PART:DURATION=0.500000,URI="v0/1795000000000-3.1.m4s"',
    );
  }
  await untilPending(fixture, 3);
  stream.addSegment();
  expect(await (await segmentReload).text()).toContain('\nv0/1795000000000-3.m4s\n');
  await untilPending(fixture, 2);
  stream.addPart();
  expect(await (await nextSegmentReload).text()).toContain('URI="v0/1795000000000-4.0.m4s"');
  expect(await (await afterLast).text()).toContain('URI="v0/1795000000000-4.0.m4s"');
  await untilPending(fixture, 0);
});

test('[M-30] a request for an announced part resolves when the part exists', async () => {
  const { fixture, stream } = listenLowLatency();
  const pending = fixture.get(`${STREAM}/v0/1795000000000-3.1.m4s`);
  const audio = fixture.get(`${STREAM}/a0/1795000000000-3.1.m4s`);
  const partOfNextSegment = fixture.get(`${STREAM}/v0/1795000000000-4.0.m4s`);
  await untilPending(fixture, 3);
  stream.addPart();
  expect(await (await pending).text()).toBe('part 3.1 v0');
  const response = await audio;
  expect(await response.text()).toBe('part 3.1 a0');
  expect(response.headers.get('content-type')).toBe('audio/mp4');
  // The segment gets a third part, and no fourth.
  const third = fixture.get(`${STREAM}/v0/1795000000000-3.2.m4s`);
  await untilPending(fixture, 2);
  stream.addPart();
  expect((await third).status).toBe(200);
  const fourth = fixture.get(`${STREAM}/v0/1795000000000-3.3.m4s`);
  await untilPending(fixture, 2);
  stream.addSegment();
  expect((await fourth).status).toBe(404);
  stream.addPart();
  expect(await (await partOfNextSegment).text()).toBe('part 4.0 v0');
});

test.each([
  'v0/1795000000000-3.2.m4s',
  'v0/1795000000000-4.1.m4s',
  'v0/1795000000000-5.0.m4s',
  'v3/1795000000000-3.1.m4s',
  'v0/1795000000000-2.2.m4s',
])('[M-31] a request for the unannounced part %s gets 404 at once', async (path) => {
  const { fixture } = listenLowLatency();
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
])('[M-30] [M-31] invalid or too distant directives %s get 400', async (query) => {
  const { fixture } = listenLowLatency();
  const response = await fixture.get(playlist(query));
  expect(response.status).toBe(400);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(fixture.origin.stats().pendingRequests).toBe(0);
});

test('[M-30] a request for a coming segment does not wait without low latency', async () => {
  const stream = new FakeStream().startEpoch().addSegment().addSegment();
  const fixture = listenOrigin(() => stream);
  fixtures.push(fixture);
  for (const query of ['_HLS_msn=3', '_HLS_msn=2&_HLS_part=0', '_HLS_msn=0', '_HLS_msn=999']) {
    const response = await fixture.get(playlist(query));
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('\nv0/1795000000000-1.m4s\n'),
    ]);
    // Not that of a blocking reload: the next response for the same URL has further segments.
    expect(response.headers.get('cache-control')).toBe('public, max-age=1');
  }
  for (const query of ['_HLS_part=1', '_HLS_msn=x', '_HLS_msn=3&_HLS_part=x']) {
    expect((await fixture.get(playlist(query))).status).toBe(400);
  }
});

test('[M-31] a blocking reload of an unknown track gets 404', async () => {
  const { fixture } = listenLowLatency();
  expect((await fixture.get(`${STREAM}/v5.m3u8?_HLS_msn=3`)).status).toBe(404);
});

test('[M-30] a blocking reload that times out gets 503', async () => {
  const { fixture, stream } = listenLowLatency();
  const response = await fixture.get(playlist('_HLS_msn=3&_HLS_part=1'));
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(fixture.origin.stats().pendingRequests).toBe(0);
  // A stream without a source does not change: what waits for that would stay in memory.
  expect(stream.waiting).toBe(0);
});

test('[M-30] a blocking reload resolves when the stream ends', async () => {
  const { fixture, stream } = listenLowLatency();
  const pending = fixture.get(playlist('_HLS_msn=3'));
  const part = fixture.get(`${STREAM}/v0/1795000000000-3.1.m4s`);
  await untilPending(fixture, 2);
  stream.end();
  expect(await (await pending).text()).toContain('#EXT-X-ENDLIST');
  expect((await part).status).toBe(404);
  // An ended stream never blocks, and nothing is too far ahead.
  expect((await fixture.get(playlist('_HLS_msn=99'))).status).toBe(200);
});

test('[M-30] drain ends pending requests and refuses new ones', async () => {
  const { fixture } = listenLowLatency();
  const pending = [playlist('_HLS_msn=3'), `${STREAM}/v0/1795000000000-3.1.m4s`].map((path) =>
    fixture.get(path),
  );
  await untilPending(fixture, 2);
  fixture.origin.drain();
  for (const response of await Promise.all(pending)) expect(response.status).toBe(503);
  expect((await fixture.get(playlist('_HLS_msn=3'))).status).toBe(503);
  expect((await fixture.get(playlist('_HLS_msn=2'))).status).toBe(200);
});

test('[M-24] a delta update omits old segments', async () => {
  const stream = new FakeStream().startEpoch();
  for (let i = 0; i < 40; i++) stream.addSegment();
  const fixture = listenOrigin(() => stream);
  fixtures.push(fixture);
  const full = await fixture.get(playlist(''));
  const delta = await fixture.get(playlist('_HLS_skip=YES'));
  expect(await full.text()).toContain('\nv0/1795000000000-5.m4s\n');
  const text = await delta.text();
  expect(text).toContain('#EXT-X-SKIP:SKIPPED-SEGMENTS=');
  expect(text).not.toContain('\nv0/1795000000000-5.m4s\n');
});

test('[M-30] a request does not wait on when its client has disconnected', async () => {
  const { fixture } = listenLowLatency();
  const disconnect = new AbortController();
  const { signal } = disconnect;
  const requests = Array.from({ length: 5 }, () =>
    fixture.get(playlist('_HLS_msn=4'), { signal }).catch(() => null),
  );
  await untilPending(fixture, 5);
  disconnect.abort();
  await Promise.all(requests);
  const abortedMs = performance.now();
  await untilPending(fixture, 0);
  expect(performance.now() - abortedMs).toBeLessThan(1_000);
});

test('[M-30] requests for parts after the end of a segment share one wait', async () => {
  const { fixture, stream } = listenLowLatency();
  stream.addPart().addSegment();
  let waits = 0;
  const { onChange } = stream;
  stream.onChange = (version, run) => {
    waits++;
    return onChange.call(stream, version, run);
  };
  const requests = [2, 7, 1_000, 999_999].map((part) =>
    fixture.get(playlist(`_HLS_msn=3&_HLS_part=${part}`)),
  );
  await untilPending(fixture, requests.length);
  expect(waits).toBe(1);
  stream.addPart();
  for (const response of await Promise.all(requests)) expect(response.status).toBe(200);
});
