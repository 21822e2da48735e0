import { expect, test } from 'bun:test';
import { expectBaseHeaders } from '../support/conformance/expectations.ts';
import { feedSteps } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { startService } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
await harness.advance(1);

const PRIVATE = 'private, max-age=31536000, immutable';

const { newViewer, read, sealNext, send } = feedSteps(harness);

test('[F-17] [F-18] a feed 200 has a strong ETag and is privately cacheable as immutable', async () => {
  const viewer = await newViewer();
  await send(viewer, 'lights', null);
  const interval = await sealNext();
  const tags = new Set<string | null>();
  for (const reader of [viewer, viewer, await harness.viewer(viewer.streamId)]) {
    const { headers } = await read(reader, interval);
    expect(headers.get('cache-control')).toBe(PRIVATE);
    tags.add(headers.get('etag'));
  }
  await harness.advance(300);
  tags.add((await read(viewer, interval)).headers.get('etag'));
  expect(tags.size).toBe(1);
  const [tag] = tags;
  expect(tag).toMatch(/^"[^"]+"$/);
  expect((await read(viewer, interval + 1)).headers.get('etag')).not.toBe(tag as string);
});

test('[F-18] with --edge-cache a feed 200 is publicly cacheable', async () => {
  await using edge = await startService({ config: { edgeCache: true } });
  await edge.advance(1);
  const viewer = await edge.viewer(await edge.createStream());
  const { headers } = await read(viewer, edge.interval() - 1);
  expect(headers.get('cache-control')).toBe(
    'public, max-age=31536000, s-maxage=31536000, immutable',
  );
});

test('[F-19] If-None-Match with the ETag returns 304 with the same headers and no body', async () => {
  const viewer = await newViewer();
  const interval = await sealNext();
  const full = await read(viewer, interval);
  const tag = full.headers.get('etag') ?? '';
  for (const header of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
    const unchanged = await read(viewer, interval, { 'If-None-Match': header });
    expect(unchanged.status).toBe(304);
    expectBaseHeaders(unchanged);
    for (const name of ['etag', 'cache-control', 'vary', 'allow']) {
      expect(unchanged.headers.get(name)).toBe(full.headers.get(name));
    }
    expect((await unchanged.bytes()).length).toBe(0);
  }
  for (const header of ['"x"', 'x', '', `${tag.slice(0, -1)}0"`, tag.slice(1, -1)]) {
    expect((await read(viewer, interval, { 'If-None-Match': header })).status).toBe(200);
  }
});

test('[F-19] If-None-Match also applies to a long poll', async () => {
  const viewer = await newViewer();
  const interval = harness.interval();
  const otherTag = (await read(viewer, interval - 1)).headers.get('etag') ?? '';
  const longPoll = read(viewer, interval, { 'If-None-Match': otherTag });
  await Bun.sleep(20);
  await harness.advance(1);
  expect((await longPoll).status).toBe(200);
});

test('[F-20] errors of the feed are no-store', async () => {
  const viewer = await newViewer();
  const errors = [
    read(viewer, 'x'),
    read(viewer, harness.interval() + 9),
    read(await newViewer(), 'x'),
  ];
  for (const error of await Promise.all(errors)) {
    expect(error.headers.get('cache-control')).toBe('no-store');
    expect(error.headers.has('etag')).toBe(false);
  }
  const url = `${harness.url}/api/v1/events-streams/${viewer.streamId}?interval=1`;
  expect((await fetch(url)).headers.get('cache-control')).toBe('no-store');
});
