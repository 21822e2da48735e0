import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import { newChannels, OFFER } from '../../test/support/media/channels-fixture.ts';
import { bytesOf } from '../../test/support/media/packager-fixture.ts';
import { mediaReadings } from './media-metrics.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const PROGRESS = { frames: 100, dropped: 0, duplicated: 0 };

test('[M-43] [O-14] sources, refusals, encoders and the disk are told, and no stream is named', async () => {
  const { channels, shelves, parts, store } = newChannels();
  store.add('two', 'sk_2');
  store.add('three', 'sk_3');
  const served = { master: 1, manifest: 0, playlist: 3, init: 0, segment: 2, part: 0 };
  const origin = () => ({ served, bytes: 5_000, held: 1 });
  const readings = mediaReadings(channels, shelves, origin);
  const read = () =>
    Object.fromEntries(readings.map(({ name, read }) => [name, [...read()]] as const));
  expect(read()).toMatchObject({
    fourbeat_media_sources: [],
    fourbeat_media_refused_total: [],
    fourbeat_media_received_bytes_total: [[0]],
    fourbeat_media_encoder_speed: [],
    fourbeat_media_encoder_fps: [[0]],
  });

  const offers = [
    OFFER,
    { ...OFFER, key: 'sk_2' },
    { ...OFFER, key: 'sk_3', kind: 'srt' as const },
  ];
  for (const [at, offer] of offers.entries()) {
    const session = await channels.open(offer);
    session.write(bytesOf('H;J1;'));
    await parts.probe.understands();
    // The third has made nothing yet.
    if (at < 2) parts.encoder.events.onProgress({ ...PROGRESS, fps: 15, speed: 1 - at / 4 });
  }
  await channels.open(OFFER).catch(() => {});
  await channels.open({ ...OFFER, key: 'none' }).catch(() => {});
  await parts.encoders[0]?.ends({ code: 1 });
  await parts.pass(250);

  expect(read()).toEqual({
    fourbeat_media_sources: [
      [2, { kind: 'rtmp' }],
      [1, { kind: 'srt' }],
    ],
    fourbeat_media_refused_total: [
      [1, { reason: 'busy' }],
      [1, { reason: 'unknown-key' }],
    ],
    fourbeat_media_received_bytes_total: [[15]],
    fourbeat_media_encoder_cpu_seconds_total: [[6]],
    fourbeat_media_encoder_restarts_total: [[1]],
    // Of the one that runs and has told: the first was started again just now.
    fourbeat_media_encoder_speed: [[0.75]],
    fourbeat_media_encoder_fps: [[15]],
    fourbeat_media_disk_bytes: [[1_000]],
    fourbeat_media_disk_full_streams: [[1]],
    fourbeat_media_evicted_segments_total: [[2]],
    fourbeat_media_served_total: [
      [1, { kind: 'master' }],
      [0, { kind: 'manifest' }],
      [3, { kind: 'playlist' }],
      [0, { kind: 'init' }],
      [2, { kind: 'segment' }],
      [0, { kind: 'part' }],
    ],
    fourbeat_media_served_bytes_total: [[5_000]],
    fourbeat_media_held_requests: [[1]],
  });
  for (const { labelNames = [] } of readings) expect(labelNames).not.toContain('stream');

  const stopping = channels.stop();
  for (const encoder of parts.encoders) await encoder.ends({ code: 0 });
  await stopping;
});
