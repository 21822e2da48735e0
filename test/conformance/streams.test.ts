import { expect, test } from 'bun:test';
import { PLAYBACK_LADDER } from '../../protocol/limits.ts';
import type { Stream, StreamPage } from '../../protocol/streams.ts';
import {
  expectMembers,
  expectNoContent,
  expectProblem,
} from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, startService } from '../support/harness/harness.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const harness = await serviceOfFile();

const detail = (id: string) => fetch(`${harness.url}/api/v1/streams/${id}/`);
const statusOf = async (id: string) => (await expectJson<Stream>(await detail(id), 200)).status;

test('[S-1] [S-5] a stream has exactly id, producer, dash_url, hls_url and status', async () => {
  const id = await harness.createStream({ title: 'hidden', latencyAllowance: 5 });
  const stream = await expectJson<Stream>(await detail(id), 200);
  expectMembers(stream, ['id', 'producer', 'dash_url', 'hls_url', 'status']);
  expect(stream.id).toBe(id);
  expect(stream.id).toMatch(UUID);
  expect(stream.producer).toMatch(UUID);
  for (const url of [stream.dash_url, stream.hls_url]) expect(URL.canParse(url)).toBe(true);
});

test('[S-1] a stream keeps the URLs it was created with', async () => {
  const urls = {
    dash_url: 'https://cdn.example/a.mpd',
    hls_url: 'http://cdn.example/a.m3u8?x=1',
  };
  const id = await harness.createStream(urls);
  expect(await expectJson<Stream>(await detail(id), 200)).toMatchObject(urls);
});

test('[S-2] a stream has the uuid of its account as producer in every state', async () => {
  const id = await harness.createStream();
  for (const path of ['', '/start', '/end']) {
    if (path) await harness.studio('POST', `/streams/${id}${path}`);
    const { producer } = await expectJson<Stream>(await detail(id), 200);
    expect(producer).toBe(harness.account.uuid);
  }
  const wrong = await harness.studio('PATCH', `/streams/${id}`, { producer: id });
  expect(wrong.status).toBe(400);
});

test('[S-3] a stream without its own URLs plays from this origin', async () => {
  const id = await harness.createStream();
  expect(await expectJson<Stream>(await detail(id), 200)).toMatchObject({
    dash_url: `${harness.url}/media/${id}/manifest.mpd`,
    hls_url: `${harness.url}/media/${id}/master.m3u8`,
  });
});

test('[S-3] [S-10] the configured public URL is the origin of every link', async () => {
  const publicUrl = 'https://show.example.org';
  await using other = await startService({ config: { publicUrl, rates: HIGH_RATES } });
  const id = await other.createStream();
  await other.createStream();
  const stream = await fetch(`${other.url}/api/v1/streams/${id}/`);
  expect((await expectJson<Stream>(stream, 200)).hls_url).toBe(
    `${publicUrl}/media/${id}/master.m3u8`,
  );
  const first = await fetch(
    `${other.url}/api/v1/streams/?producer=${other.account.uuid}&page_size=1`,
  );
  const { next } = await expectJson<StreamPage>(first, 200);
  expect(next).toStartWith(`${publicUrl}/api/v1/streams/?`);
});

test('[S-4] a stream goes through CREATED, STREAMING and ENDED and never back', async () => {
  const id = await harness.createStream();
  expect(await statusOf(id)).toBe('CREATED');
  await expectJson(await harness.studio('POST', `/streams/${id}/start`), 200);
  expect(await statusOf(id)).toBe('STREAMING');
  await expectJson(await harness.studio('POST', `/streams/${id}/end`), 200);
  expect(await statusOf(id)).toBe('ENDED');
  expect((await harness.studio('POST', `/streams/${id}/start`)).status).toBe(409);
  expect(await statusOf(id)).toBe('ENDED');
});

test('[S-5] an unknown stream id returns 404, and ids are case-insensitive', async () => {
  await expectProblem(await detail(crypto.randomUUID()), 404);
  await expectProblem(await detail('1'), 404);
  const id = await harness.createStream();
  expect((await expectJson<Stream>(await detail(id.toUpperCase()), 200)).id).toBe(id);
});

test('[S-15] a stream plays in three qualities: as the input, a half and a third', () => {
  expect(PLAYBACK_LADDER).toEqual([
    { name: 'High', divisor: 1, megabytesPerS: 2.4 },
    { name: 'Medium', divisor: 2, megabytesPerS: 1.2 },
    { name: 'Low', divisor: 3, megabytesPerS: 0.8 },
  ]);
  const megabits = PLAYBACK_LADDER.map(({ megabytesPerS }) => megabytesPerS * 8);
  for (const [index, expected] of [19.2, 9.6, 6.4].entries()) {
    expect(megabits[index]).toBeCloseTo(expected);
  }
});

test('[S-16] a stream accepts viewers, counts, feed reads and chat in every state', async () => {
  const id = await harness.createStream();
  for (const change of [null, '/start', '/end']) {
    if (change) await expectJson(await harness.studio('POST', `/streams/${id}${change}`), 200);
    const viewer = await harness.viewer(id);
    await expectNoContent(await viewer.post(`/api/v1/view-counts/${id}`));
    expect((await viewer.get(`/api/v1/view-counts/${id}`)).status).toBe(200);
    const hearts = { kind: 'heart', count: 2 };
    await expectNoContent(await viewer.post(`/api/v1/events-streams/${id}/chats`, hearts));
    await harness.advance(1);
    const events = await harness.events(viewer, harness.interval() - 1);
    expect(events.filter(({ type }) => type === 'chats')).toHaveLength(1);
  }
});
