import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { bytesOf } from '../../test/support/media/packager-fixture.ts';
import {
  createSourceFixture,
  SOURCE_REQUEST,
} from '../../test/support/media/source-registry-fixture.ts';
import { mediaMetrics } from './media-metrics.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const PROGRESS = { frames: 100, dropped: 0, duplicated: 0 };

test('[M-43] [O-14] metrics cover sources, refusals, encoders, the disk and served video, and name no stream', async () => {
  const { sources, segmentStore, packager, store } = createSourceFixture();
  store.add('two', 'sk_2');
  store.add('three', 'sk_3');
  const served = { master: 1, manifest: 0, playlist: 3, init: 0, segment: 2, part: 0 };
  const origin = { stats: () => ({ served, bytes: 5_000, pendingRequests: 1 }) };
  const metrics = mediaMetrics(sources, segmentStore, origin);
  const read = () =>
    Object.fromEntries(metrics.map(({ name, read }) => [name, [...read()]] as const));
  expect(read()).toMatchObject({
    fourbeat_media_sources: [],
    fourbeat_media_refused_sources_total: [],
    fourbeat_media_received_bytes_total: [[0]],
    fourbeat_media_encoder_speed: [],
    fourbeat_media_encoder_fps: [[0]],
  });

  const requests = [
    SOURCE_REQUEST,
    { ...SOURCE_REQUEST, key: 'sk_2' },
    { ...SOURCE_REQUEST, key: 'sk_3', kind: 'srt' as const },
  ];
  for (const [index, request] of requests.entries()) {
    const session = await sources.open(request);
    session.write(bytesOf('H;J1;'));
    await packager.probe.succeed();
    // The third encoder has reported no progress yet.
    if (index < 2)
      packager.encoder.events.onProgress({ ...PROGRESS, fps: 15, speed: 1 - index / 4 });
  }
  await sources.open(SOURCE_REQUEST).catch(() => {});
  await sources.open({ ...SOURCE_REQUEST, key: 'none' }).catch(() => {});
  await packager.encoders[0]?.exitWith({ code: 1 });
  await packager.advance(250);

  expect(read()).toEqual({
    fourbeat_media_sources: [
      [2, { kind: 'rtmp' }],
      [1, { kind: 'srt' }],
    ],
    fourbeat_media_refused_sources_total: [
      [1, { reason: 'busy' }],
      [1, { reason: 'unknown-key' }],
    ],
    fourbeat_media_received_bytes_total: [[15]],
    fourbeat_media_encoder_cpu_seconds_total: [[6]],
    fourbeat_media_encoder_restarts_total: [[1]],
    // The second encoder only: the first was just restarted.
    fourbeat_media_encoder_speed: [[0.75]],
    fourbeat_media_encoder_fps: [[15]],
    fourbeat_media_disk_bytes: [[1_000]],
    fourbeat_media_disk_full_streams: [[1]],
    fourbeat_media_evicted_segments_total: [[2]],
    fourbeat_media_served_responses_total: [
      [1, { kind: 'master' }],
      [0, { kind: 'manifest' }],
      [3, { kind: 'playlist' }],
      [0, { kind: 'init' }],
      [2, { kind: 'segment' }],
      [0, { kind: 'part' }],
    ],
    fourbeat_media_served_bytes_total: [[5_000]],
    fourbeat_media_blocked_requests: [[1]],
  });
  for (const { labelNames = [] } of metrics) expect(labelNames).not.toContain('stream');

  const stopping = sources.stop();
  for (const encoder of packager.encoders) await encoder.exitWith({ code: 0 });
  await stopping;
});
