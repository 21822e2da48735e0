import { expect, spyOn, test } from 'bun:test';
import fs from 'node:fs';
import { createMetrics, createSealLatencyHistogram, type MetricSources } from './metrics.ts';
import { Histogram } from './response-counter.ts';

function sourcesWith(changed: Partial<MetricSources> = {}): MetricSources {
  return {
    version: '1.2.3',
    requests: () => [],
    viewersByStream: () => [],
    watermark: () => 0,
    sealLatency: createSealLatencyHistogram(),
    feedLagMs: () => 0,
    backends: [],
    databasePendingCalls: () => 0,
    answersByDecision: () => [],
    clockOffsetMs: () => 0,
    refusedConnections: () => 0,
    openFiles: () => 0,
    feed: () => ({ longPolls: 0, eventStreams: 0 }),
    additional: [],
    ...changed,
  };
}

/** Samples of a metrics page by name and labels; every line is a sample or a comment. */
function samplesOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const match = /^([a-z0-9_]+(?:\{.*\})?) (\S+)$/.exec(line);
      if (!match) throw new Error(`not a sample: ${line}`);
      return [match[1] ?? '', Number(match[2])];
    }),
  );
}

test('[O-12] metrics have a sample of every source', async () => {
  const counts = new Float64Array(600);
  counts[204] = 7;
  counts[429] = 2;
  const durations = new Histogram([0.5, 1]);
  for (const seconds of [0.2, 0.7]) durations.add(seconds);
  const sealLatency = createSealLatencyHistogram();
  for (const seconds of [0.001, 0.02, 0.02, 60]) sealLatency.add(seconds);
  const metrics = createMetrics(
    sourcesWith({
      requests: () => [
        { operation: { method: 'POST', path: '/api/v1/x/{id}' }, counts, durations },
      ],
      viewersByStream: () => [
        ['a', 3],
        ['b', 5],
      ],
      watermark: () => 7_000_000_001,
      sealLatency,
      feedLagMs: () => 250,
      backends: [
        { name: 'redis', unavailableReason: () => 'It does not answer.' },
        { name: 'postgres', unavailableReason: () => null },
      ],
      databasePendingCalls: () => 12,
      answersByDecision: () => [['accepted', 9]],
      clockOffsetMs: () => -250,
      feed: () => ({ longPolls: 4, eventStreams: 6 }),
    }),
  );
  const samples = samplesOf(await metrics.render());
  const expected: Record<string, number> = {
    'fourbeat_build_info{version="1.2.3"}': 1,
    'fourbeat_requests_total{method="POST",path="/api/v1/x/{id}",status="204"}': 7,
    'fourbeat_requests_total{method="POST",path="/api/v1/x/{id}",status="429"}': 2,
    'fourbeat_request_duration_seconds_bucket{method="POST",path="/api/v1/x/{id}",le="0.5"}': 1,
    'fourbeat_request_duration_seconds_bucket{method="POST",path="/api/v1/x/{id}",le="+Inf"}': 2,
    'fourbeat_request_duration_seconds_count{method="POST",path="/api/v1/x/{id}"}': 2,
    fourbeat_viewers: 8,
    fourbeat_active_streams: 2,
    fourbeat_watermark: 7_000_000_001,
    'fourbeat_seal_latency_seconds_bucket{le="0.005"}': 1,
    'fourbeat_seal_latency_seconds_bucket{le="0.025"}': 3,
    'fourbeat_seal_latency_seconds_bucket{le="5"}': 3,
    'fourbeat_seal_latency_seconds_bucket{le="+Inf"}': 4,
    fourbeat_seal_latency_seconds_sum: 60.041,
    fourbeat_seal_latency_seconds_count: 4,
    fourbeat_database_pending_calls: 12,
    'fourbeat_answers_total{decision="accepted"}': 9,
    fourbeat_feed_lag_seconds: 0.25,
    'fourbeat_backend_up{backend="redis"}': 0,
    'fourbeat_backend_up{backend="postgres"}': 1,
    fourbeat_clock_offset_seconds: -0.25,
    fourbeat_long_polls: 4,
    fourbeat_event_streams: 6,
  };
  for (const [name, value] of Object.entries(expected)) {
    expect([name, samples.get(name)]).toEqual([name, value]);
  }
  expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(samples.get('process_cpu_seconds_total')).toBeGreaterThan(0.01);
});

test('[O-12] metrics have the values at the time of the scrape', async () => {
  let viewers: [string, number][] = [['stream-a', 5]];
  const metrics = createMetrics(
    sourcesWith({ viewersByStream: () => viewers, answersByDecision: () => [['accepted', 1]] }),
  );
  await metrics.render();
  viewers = [['stream-b', 2]];
  const samples = samplesOf(await metrics.render());
  expect(samples.get('fourbeat_viewers')).toBe(2);
  expect(samples.get('fourbeat_active_streams')).toBe(1);
  expect(samples.get('fourbeat_answers_total{decision="accepted"}')).toBe(1);
});

test('[O-14] [S-14] metrics contain no stream id, since only its id protects an unlisted stream', async () => {
  const streamId = '0b7f3a52-7f9c-4a51-9f0e-2f1f6f2f3a10';
  const metrics = createMetrics(sourcesWith({ viewersByStream: () => [[streamId, 3]] }));
  const page = await metrics.render();
  expect(page).toContain('fourbeat_viewers 3');
  expect(page).not.toContain(streamId);
});

test('[O-12] two services in one process have separate metrics', async () => {
  const first = createMetrics(sourcesWith({ watermark: () => 1 }));
  const second = createMetrics(sourcesWith({ watermark: () => 2 }));
  expect(samplesOf(await first.render()).get('fourbeat_watermark')).toBe(1);
  expect(samplesOf(await second.render()).get('fourbeat_watermark')).toBe(2);
});

test('[O-12] a scrape counts the open files of the process without listing them', async () => {
  const list = spyOn(fs, 'readdirSync');
  try {
    const samples = samplesOf(await createMetrics(sourcesWith({ openFiles: () => 5 })).render());
    expect(samples.get('process_open_fds')).toBeGreaterThan(0);
    expect(list).not.toHaveBeenCalled();
  } finally {
    list.mockRestore();
  }
});

test('[O-12] each operation has a sample of status 500, so that the first error has a rate', async () => {
  const requests = ['/used', '/unused'].map((path) => ({
    operation: { method: 'GET', path },
    counts: new Float64Array(600),
    durations: new Histogram([1]),
  }));
  const metrics = createMetrics(sourcesWith({ requests: () => requests }));
  const errors = async () => {
    const samples = samplesOf(await metrics.render());
    return ['/used', '/unused'].map((path) =>
      samples.get(`fourbeat_requests_total{method="GET",path="${path}",status="500"}`),
    );
  };
  const used = requests[0]?.counts as Float64Array;
  used[200] = 1;
  expect(await errors()).toEqual([0, 0]);
  used[500] = 3;
  expect(await errors()).toEqual([3, 0]);
});
