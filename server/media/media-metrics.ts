import type { MetricDefinition } from '../platform/metrics.ts';
import type { Origin } from './origin/origin-routes.ts';
import type { SourceRegistry } from './source-registry.ts';
import type { SegmentStore } from './store/segment-store.ts';

/** The metrics of media (SPEC M-43). No label names a stream, because the metrics page is public. */
export function mediaMetrics(
  sources: SourceRegistry,
  segmentStore: SegmentStore,
  origin: Pick<Origin, 'stats'>,
): MetricDefinition[] {
  return [
    ...sourceMetrics(sources),
    ...encoderMetrics(sources),
    ...diskMetrics(segmentStore),
    ...originMetrics(origin),
  ];
}

function sourceMetrics(sources: SourceRegistry): MetricDefinition[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_media_sources',
      help: 'Connected video sources, by protocol.',
      labelNames: ['kind'],
      read: () =>
        [...Map.groupBy(sources.liveSources(), ({ kind }) => kind)].map(
          ([kind, { length }]) => [length, { kind }] as const,
        ),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_refused_sources_total',
      help: 'Refused video sources, by reason.',
      labelNames: ['reason'],
      read: () => [...sources.refusals].map(([reason, count]) => [count, { reason }] as const),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_received_bytes_total',
      help: 'Bytes received from video sources.',
      read: () => [[sources.totals().bytes]],
    },
  ];
}

function encoderMetrics(sources: SourceRegistry): MetricDefinition[] {
  const progressReports = () =>
    [...sources.liveSources()].flatMap(({ packager }) => {
      const { progress } = packager.state();
      return progress ? [progress] : [];
    });
  return [
    {
      kind: 'counter',
      name: 'fourbeat_media_encoder_cpu_seconds_total',
      help: 'CPU time used by all encoders.',
      read: () => [[sources.totals().cpuSeconds]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_encoder_restarts_total',
      help: 'Restarts of encoders.',
      read: () => [[sources.totals().restarts]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_encoder_speed',
      help: 'Speed of the slowest encoder; 1 is real time.',
      read: () => {
        const speeds = progressReports().map(({ speed }) => speed);
        return speeds.length === 0 ? [] : [[Math.min(...speeds)]];
      },
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_encoder_fps',
      help: 'Frames per second of all encoders together.',
      read: () => [[progressReports().reduce((sum, { fps }) => sum + fps, 0)]],
    },
  ];
}

function originMetrics(origin: Pick<Origin, 'stats'>): MetricDefinition[] {
  return [
    {
      kind: 'counter',
      name: 'fourbeat_media_served_responses_total',
      help: 'Responses with video, by kind of file.',
      labelNames: ['kind'],
      read: () =>
        Object.entries(origin.stats().served).map(([kind, count]) => [count, { kind }] as const),
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_served_bytes_total',
      help: 'Bytes of video served.',
      read: () => [[origin.stats().bytes]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_blocked_requests',
      help: 'Requests that block until a segment or part exists.',
      read: () => [[origin.stats().pendingRequests]],
    },
  ];
}

function diskMetrics(segmentStore: SegmentStore): MetricDefinition[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_media_disk_bytes',
      help: 'Disk space used by segments.',
      read: () => [[segmentStore.stats().bytes]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_media_disk_full_streams',
      help: 'Streams whose segments are not written because the disk is full.',
      read: () => [[segmentStore.stats().fullStreams]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_media_evicted_segments_total',
      help: 'Segments removed to free disk space.',
      read: () => [[segmentStore.stats().evicted]],
    },
  ];
}
