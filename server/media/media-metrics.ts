import type { Reading } from '../platform/metrics.ts';
import type { Channels } from './channels.ts';
import type { OriginStats } from './origin/origin-routes.ts';
import type { SegmentStore } from './store/segment-store.ts';

/** What video adds to the metrics (SPEC M-43). No label names a stream: the page is open. */
export function mediaReadings(
  channels: Channels,
  shelves: SegmentStore,
  served: () => OriginStats,
): Reading[] {
  return [
    ...sourceReadings(channels),
    ...encoderReadings(channels),
    ...diskReadings(shelves),
    ...servedReadings(served),
  ];
}

function sourceReadings(channels: Channels): Reading[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_media_sources',
      help: 'Sources of video that are live, by the way they come in.',
      labelNames: ['kind'],
      read: () =>
        [...Map.groupBy(channels.live(), ({ kind }) => kind)].map(
          ([kind, { length }]) => [length, { kind }] as const,
        ),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_refused_total',
      help: 'Sources that were refused, by reason.',
      labelNames: ['reason'],
      read: () => [...channels.refused].map(([reason, count]) => [count, { reason }] as const),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_received_bytes_total',
      help: 'Bytes that sources have sent.',
      read: () => [[channels.totals().bytes]],
    },
  ];
}

function encoderReadings(channels: Channels): Reading[] {
  const progresses = () =>
    [...channels.live()].flatMap(({ packager }) => {
      const { progress } = packager.state();
      return progress ? [progress] : [];
    });
  return [
    {
      kind: 'counter',
      name: 'fourbeat_media_encoder_cpu_seconds_total',
      help: 'CPU time of all encoders.',
      read: () => [[channels.totals().cpuSeconds]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_encoder_restarts_total',
      help: 'Encoders that had to be started again.',
      read: () => [[channels.totals().restarts]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_encoder_speed',
      help: 'Speed of the slowest encoder; 1 is real time.',
      read: () => {
        const speeds = progresses().map(({ speed }) => speed);
        return speeds.length === 0 ? [] : [[Math.min(...speeds)]];
      },
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_encoder_fps',
      help: 'Pictures that all encoders take in a second.',
      read: () => [[progresses().reduce((sum, { fps }) => sum + fps, 0)]],
    },
  ];
}

function servedReadings(served: () => OriginStats): Reading[] {
  return [
    {
      kind: 'counter',
      name: 'fourbeat_media_served_total',
      help: 'Answers with video in them, by what it is.',
      labelNames: ['kind'],
      read: () =>
        Object.entries(served().served).map(([kind, count]) => [count, { kind }] as const),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_served_bytes_total',
      help: 'Bytes of video that were served.',
      read: () => [[served().bytes]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_held_requests',
      help: 'Requests that are held for a part of a playlist.',
      read: () => [[served().held]],
    },
  ];
}

function diskReadings(shelves: SegmentStore): Reading[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_media_disk_bytes',
      help: 'What segments take on disk.',
      read: () => [[shelves.stats().bytes]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_disk_full_streams',
      help: 'Streams that are not written to disk because it is full.',
      read: () => [[shelves.stats().fullStreams]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_evicted_segments_total',
      help: 'Segments that were removed to make room.',
      read: () => [[shelves.stats().evicted]],
    },
  ];
}
