import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { Ingest } from '../../protocol/ingest.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const service = await serviceOfFile();

const GRACE_MS = 30_000;
const HEALTH = {
  ...{ bitrate: 4e6, fps: 30, speed: 1.01, dropped: 2, width: 1280, height: 720 },
  ...{ hasAudio: true, keyFrameIntervalMs: 2_000 },
};
const ingest = (id: string, init = {}) =>
  service.studio('GET', `/streams/${id}/ingest`, undefined, init);
const rotate = (id: string, init = {}) =>
  service.studio('POST', `/streams/${id}/ingest/rotate-key`, undefined, init);
const ingestOf = async (response: Response) => expectJson<Ingest>(response, 200);
const statusOf = async (id: string) =>
  (await expectJson<{ status: string }>(await fetch(`${service.url}/api/v1/streams/${id}/`), 200))
    .status;

const open = (key: string, session: string) =>
  service.store.openSource({
    key,
    session,
    kind: 'srt',
    nowMs: service.clock.nowMs(),
    graceMs: GRACE_MS,
    sourcesMax: 100,
  });
const renew = (streamId: string, session: string) =>
  service.store.renewSource({
    streamId,
    session,
    nowMs: service.clock.nowMs(),
    graceMs: GRACE_MS,
    health: HEALTH,
  });

describe('the stream key', () => {
  test('[M-1] the stream key is created on the first read and stays, with the ingest addresses', async () => {
    const id = await service.createStream();
    const response = await ingest(id);
    expect(response.headers.get('cache-control')).toBe('no-store');
    const first = await ingestOf(response);
    const websocket = { url: `${service.url.replace('http', 'ws')}/media/${id}/ingest` };
    expect(first).toMatchObject({ websocket, source: null });
    expect(Object.keys(first).sort()).toEqual([
      ...['key', 'rtmp', 'source', 'sourceEndsAt', 'srt', 'websocket'],
    ]);
    expect(first.key).toMatch(/^sk_[0-9A-Za-z]{32}$/);
    expect(await ingestOf(await ingest(id))).toEqual(first);
    const other = await ingestOf(await ingest(await service.createStream()));
    expect(other.key).not.toBe(first.key);
  });

  test('[M-1] the stream key is the same for concurrent first reads', async () => {
    const id = await service.createStream();
    const responses = await Promise.all([ingest(id), ingest(id), ingest(id)]);
    const keys = await Promise.all(responses.map(async (look) => (await ingestOf(look)).key));
    expect(new Set(keys).size).toBe(1);
  });

  test('[M-1] the stream key is rejected at once after a rotation, while its source continues', async () => {
    const id = await service.createStream();
    const { key } = await ingestOf(await ingest(id));
    expect(await open(key, 'first')).toMatchObject({ outcome: 'opened' });
    const rotated = await ingestOf(await rotate(id));
    expect(rotated.key).toMatch(/^sk_[0-9A-Za-z]{32}$/);
    expect(rotated.key).not.toBe(key);
    expect(await ingestOf(await ingest(id))).toEqual(rotated);
    expect(await open(key, 'second')).toEqual({ outcome: 'unknown-key' });
    expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed' });
    expect(await open(rotated.key, 'second')).toEqual({ outcome: 'busy' });
  });

  test('[M-1] the stream key can be rotated before its first read', async () => {
    const id = await service.createStream();
    const { key } = await ingestOf(await rotate(id));
    expect((await ingestOf(await ingest(id))).key).toBe(key);
  });

  test('[M-1] [P-2] the stream key can be read and changed by its owner only', async () => {
    const id = await service.createStream();
    const { key } = await ingestOf(await ingest(id));
    const { token } = await service.createAccount();
    for (const call of [ingest, rotate]) {
      expect((await call(id, { token })).status).toBe(404);
      expect((await call(randomUUID())).status).toBe(404);
    }
    expect((await ingestOf(await ingest(id))).key).toBe(key);
    for (const path of ['', 'streams/', `streams/${id}/`]) {
      const shown = await fetch(`${service.url}/api/v1/${path}?producer=${service.account.uuid}`);
      expect(await shown.text()).not.toContain(key);
    }
  });
});

describe('the source', () => {
  test('[M-1] [M-8] the source is shown with its health while connected, and makes the stream STREAMING', async () => {
    await service.advance(1);
    const id = await service.createStream();
    const { key } = await ingestOf(await ingest(id));
    expect(await statusOf(id)).toBe('CREATED');
    await open(key, 'first');
    expect(await statusOf(id)).toBe('STREAMING');
    expect((await ingestOf(await ingest(id))).source).toEqual({ kind: 'srt', health: null });
    await renew(id, 'first');
    expect((await ingestOf(await ingest(id))).source).toEqual({ kind: 'srt', health: HEALTH });
    await service.advance(6_000 / 250 - 1);
    expect((await ingestOf(await ingest(id))).source).not.toBeNull();
    await service.advance(1);
    expect((await ingestOf(await ingest(id))).source).toBeNull();
  });

  test('[M-7] [M-8] a source ends its stream when it does not return; the studio can end it before', async () => {
    await service.advance(1);
    const [abandoned, ended] = [await service.createStream(), await service.createStream()];
    for (const id of [abandoned, ended]) {
      const { key } = await ingestOf(await ingest(id));
      expect(await open(key, 'first')).toMatchObject({ outcome: 'opened' });
    }
    await service.studio('POST', `/streams/${ended}/end`);
    expect(await renew(ended, 'first')).toMatchObject({ outcome: 'ended' });
    await service.advance(GRACE_MS / 250);
    expect(await statusOf(abandoned)).toBe('STREAMING');
    await service.advance(1);
    expect(await statusOf(abandoned)).toBe('ENDED');
  });
});
