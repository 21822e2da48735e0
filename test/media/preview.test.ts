import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { Subprocess } from 'bun';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import {
  fileOf,
  ingestOf,
  playlistOf,
  quit,
  rtmpOf,
  segmentsOf,
  send,
  sizeIn,
  startMedia,
  statusOf,
} from '../support/media/live-fixture.ts';
import { newMember } from '../support/studio/user-agent.ts';
import { until } from '../support/until.ts';

// A sender before the show: what its producer and the viewers see, by RTMP.

const GRACE_MS = 2_000;

let service: Harness;
const senders: Subprocess[] = [];

beforeAll(async () => {
  service = await startMedia({ media: { segmentMs: 500, sourceGraceMs: GRACE_MS } });
}, 30_000);
afterEach(async () => {
  for (const sender of senders.splice(0)) await quit(sender, 'SIGKILL');
});
afterAll(() => service.close());

async function sendTo(streamId: string): Promise<Subprocess> {
  const sender = send(rtmpOf(await ingestOf(service, streamId)));
  senders.push(sender);
  return sender;
}

const previewUrl = (streamId: string, file: string) =>
  `${service.url}/media/previews/${streamId}/${file}`;
const authorization = () => ({ Authorization: `Token ${service.account.token}` });
const preview = (
  streamId: string,
  file: string,
  headers: Record<string, string> = authorization(),
) => fetch(previewUrl(streamId, file), { headers });
const segmentsIn = (playlist: string) => playlist.match(/^\w+\/\d+-\d+\.m4s$/gm) ?? [];

/** Waits for a preview with this many segments. @returns the names of its segments */
const previewOf = (streamId: string, count: number) =>
  until('preview', async () => {
    const response = await preview(streamId, 'v0.m3u8');
    const segments = response.ok ? segmentsIn(await response.text()) : [];
    return segments.length >= count ? segments : null;
  });

const viewerStatusOf = async (streamId: string, file: string) =>
  (await fetch(`${service.url}/media/${streamId}/${file}`)).status;
const startOf = async (streamId: string) =>
  expectJson<StudioStream>(await service.studio('POST', `/streams/${streamId}/start`), 200);

test('[M-32] [M-34] a source before the start is a preview, which goes live with the start', async () => {
  const streamId = await service.createStream({ autoStart: false, recording: true });
  await sendTo(streamId);
  const segments = await previewOf(streamId, 4);
  const files = ['master.m3u8', 'manifest.mpd', 'v0.m3u8', ...segments];
  for (const file of files) {
    const response = await preview(streamId, file);
    expect([file, response.status, response.headers.get('cache-control')]).toEqual([
      ...[file, 200, 'no-store'],
    ]);
    expect([file, await viewerStatusOf(streamId, file)]).toEqual([file, 404]);
  }
  expect(await statusOf(service, streamId)).toBe('CREATED');
  const { source } = await until('health', async () => {
    const ingest = await ingestOf(service, streamId);
    return ingest.source?.health?.width ? ingest : null;
  });
  expect(source).toMatchObject({
    kind: 'rtmp',
    health: { width: 192, height: 108, hasAudio: true, keyFrameIntervalMs: 1_000 },
  });

  const { started } = await startOf(streamId);
  const playlist = await segmentsOf(service, streamId, 3);
  const [first] = playlist.segments;
  const firstEndMs = (first?.dateMs ?? 0) + (first?.durationS ?? 0) * 1_000;
  expect(firstEndMs).toBeGreaterThan(started as number);
  for (const file of segments) {
    expect([file, await viewerStatusOf(streamId, file)]).toEqual([file, 404]);
  }
  expect(sizeIn(await fileOf(service, streamId, 'v0'))).toBe('192x108');
  // The same connection and encoder: the playlist has no discontinuity.
  expect(new Set(playlist.segments.map(({ map }) => map)).size).toBe(1);
  // It is the source of the show now.
  await quit(senders.pop() as Subprocess);
  await until('the end', async () => (await statusOf(service, streamId)) === 'ENDED', 20_000);
}, 60_000);

test('[M-32] a preview that stops ends nothing, and a show that is kept open does not end either', async () => {
  const streamId = await service.createStream({ autoStart: false });
  await quit(await sendTo(streamId));
  const sender = await sendTo(streamId);
  await previewOf(streamId, 2);
  await quit(sender);
  await Bun.sleep(GRACE_MS + 1_000);
  expect(await statusOf(service, streamId)).toBe('CREATED');
  await sendTo(streamId);
  await previewOf(streamId, 2);
  await startOf(streamId);
  await segmentsOf(service, streamId, 2);
  await quit(senders.pop() as Subprocess);
  const state = async () =>
    (await service.store.readLiveShow({
      ...{ id: streamId, producer: service.account.uuid },
      nowMs: service.clock.nowMs(),
    })) as unknown as LiveState;
  await until('the end is announced', async () => (await state()).sourceEndsAt !== null);
  const kept = await service.studio('PATCH', `/streams/${streamId}`, { keepOpen: true });
  expect(await expectJson<StudioStream>(kept, 200)).toMatchObject({ keepOpen: true });
  expect((await state()).sourceEndsAt).toBeNull();
  await Bun.sleep(GRACE_MS + 1_000);
  expect(await statusOf(service, streamId)).toBe('STREAMING');
}, 60_000);

test('[M-8] a stream with autoStart starts with its source', async () => {
  const streamId = await service.createStream({ autoStart: true });
  await sendTo(streamId);
  await until('STREAMING', async () => (await statusOf(service, streamId)) === 'STREAMING');
  expect(await segmentsOf(service, streamId, 1)).not.toBeNull();
}, 30_000);

test('[M-34] [U-9] [P-2] a preview is for the members and service tokens of its account', async () => {
  const streamId = await service.createStream({ autoStart: false });
  await sendTo(streamId);
  const [segment = ''] = await previewOf(streamId, 1);
  const { token } = await service.viewer(streamId);
  const other = await service.createAccount();
  const { browser } = await newMember(service, 'moderator');
  const statuses = async (headers: Record<string, string>) => {
    const responses = ['master.m3u8', segment].map((file) => preview(streamId, file, headers));
    return (await Promise.all(responses)).map(({ status }) => status);
  };
  expect(await statuses({})).toEqual([401, 401]);
  expect(await statuses({ Authorization: `Bearer ${token}` })).toEqual([401, 401]);
  expect(await statuses({ Authorization: `Token ${other.token}` })).toEqual([404, 404]);
  expect(await statuses({ Cookie: `${browser.cookie}` })).toEqual([200, 200]);
  expect((await preview(crypto.randomUUID(), 'master.m3u8')).status).toBe(404);
  expect((await preview(streamId, 'nothing.txt')).status).toBe(404);
  expect(await playlistOf(service, streamId)).toBeNull();
}, 30_000);
