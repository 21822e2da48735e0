import type { Metric, Registry } from 'prom-client';
import { countOpenFiles } from './open-files.ts';
import { Histogram } from './response-counter.ts';

/** Responses of one operation, by status. */
export interface RequestCounts {
  readonly operation: { readonly method: string; readonly path: string };
  /** Number of responses; the index is the status. Undefined: 0. */
  readonly counts: ArrayLike<number | undefined>;
  /** Seconds until the response started. */
  readonly durations: Histogram;
}

/** Counters and gauges of the service. They are read on each scrape, and only then. */
export interface MetricSources {
  readonly version: string;
  requests(): Iterable<RequestCounts>;
  viewersByStream(): Iterable<readonly [streamId: string, count: number]>;
  /** The last sealed interval. */
  watermark(): number;
  /** Seconds from the end of an interval until this node could serve it. */
  readonly sealLatency: Histogram;
  /** Database calls without a result yet. */
  databasePendingCalls(): number;
  answersByDecision(): Iterable<readonly [decision: string, count: number]>;
  /** Service time minus system time, in ms. */
  clockOffsetMs(): number;
  /** Connections of clients that were refused, since too many files are open. */
  refusedConnections(): number;
  /** Open files of connections, for systems that do not count the files of a process. */
  openFiles(): number;
  /** Time since the end of the newest interval that can be read on this node, in ms. */
  feedLagMs(): number;
  /** Servers that the service needs; `unavailable` returns the reason, or null while it is reachable. */
  readonly backends: readonly { readonly name: string; unavailableReason(): string | null }[];
  /** Open feed requests. */
  feed(): { readonly longPolls: number; readonly eventStreams: number };
  /** Metrics of optional parts of the service. */
  readonly additional: readonly MetricDefinition[];
}

/** Metrics in the text format of Prometheus (SPEC O-12). */
export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
}

const SEAL_LATENCY_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** Creates the histogram of `MetricSources.sealLatency`, in seconds. */
export function createSealLatencyHistogram(): Histogram {
  return new Histogram(SEAL_LATENCY_BOUNDS_S);
}

/** Creates the metrics of these sources. The first scrape loads prom-client. */
export function createMetrics(sources: MetricSources): Metrics {
  let registry: Promise<Registry> | null = null;
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async render() {
      registry ??= createRegistry(sources);
      return (await registry).metrics();
    },
  };
}

// Default metrics of prom-client that are correct on Bun. The others describe V8; its CPU time counts
// from the load of prom-client, so `process_cpu_seconds_total` is defined below. So is `process_open_fds`:
// prom-client lists the files, which stops the thread for 38 to 354 ms with 16,000 connections.
const PROCESS_METRICS = new Set([
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
]);

async function createRegistry(sources: MetricSources): Promise<Registry> {
  const { Registry, Counter, Gauge, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!PROCESS_METRICS.has(name)) registry.removeSingleMetric(name);
  }
  for (const { kind, name, help, labelNames = [], read } of [
    ...serviceMetrics(sources),
    ...sources.additional,
  ]) {
    const registers = [registry];
    const collect = () => {
      metric.reset();
      for (const [value, labels = {}] of read()) metric.inc(labels, value);
    };
    const options = { name, help, labelNames, registers, collect };
    const metric = kind === 'gauge' ? new Gauge(options) : new Counter(options);
  }
  for (const metric of serviceHistograms(sources)) registry.registerMetric(metric);
  return registry;
}

/** A metric whose samples are read on each scrape. */
export interface MetricDefinition {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  read(): Iterable<readonly [value: number, labels?: Record<string, string | number>]>;
}

function serviceMetrics(sources: MetricSources): MetricDefinition[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_build_info',
      help: 'Always 1; the label is the version of the program.',
      labelNames: ['version'],
      read: () => [[1, { version: sources.version }]],
    },
    {
      kind: 'counter',
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds.',
      read: () => [[cpuSeconds()]],
    },
    {
      kind: 'gauge',
      name: 'process_open_fds',
      help: 'Number of open file descriptors.',
      read: () => [[countOpenFiles(() => sources.openFiles())]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_requests_total',
      help: 'Requests by route and status.',
      labelNames: ['method', 'path', 'status'],
      read: () => requestsByStatus(sources.requests()),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_viewers',
      help: 'Viewers on this node now, over all streams.',
      read: () => [[[...sources.viewersByStream()].reduce((sum, [, count]) => sum + count, 0)]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_active_streams',
      // A number without ids: the page is public, and only its id protects an unlisted stream
      // (SPEC S-14).
      help: 'Streams that have viewers on this node now.',
      read: () => [[[...sources.viewersByStream()].length]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_answers_total',
      help: 'Quiz answers by decision.',
      labelNames: ['decision'],
      read: () =>
        [...sources.answersByDecision()].map(([decision, count]) => [count, { decision }]),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_watermark',
      help: 'The last sealed interval that can be read here.',
      read: () => [[sources.watermark()]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_feed_lag_seconds',
      help: 'Time since the end of the last interval that can be read here.',
      // The watermark of a new database is -1: its lag would be half a century.
      read: () => [[sources.watermark() < 0 ? 0 : sources.feedLagMs() / 1000]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_backend_up',
      help: '1 while the backend can be reached, else 0.',
      labelNames: ['backend'],
      read: () =>
        sources.backends.map(({ name, unavailableReason }) => [
          Number(unavailableReason() === null),
          { backend: name },
        ]),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_database_pending_calls',
      help: 'Database calls without a result yet.',
      read: () => [[sources.databasePendingCalls()]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_clock_offset_seconds',
      help: 'Service time minus system time.',
      read: () => [[sources.clockOffsetMs() / 1000]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_long_polls',
      help: 'Feed requests that wait for their interval to be sealed.',
      read: () => [[sources.feed().longPolls]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_connections_refused_total',
      help: 'Connections of clients that were closed at once, because too many files are open.',
      read: () => [[sources.refusedConnections()]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_event_streams',
      help: 'Open event streams.',
      read: () => [[sources.feed().eventStreams]],
    },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

/**
 * Each status that an operation had, and always 500: a series that begins above 0 has no rate at first, so the
 * alert on errors would miss a single burst.
 */
function* requestsByStatus(operations: Iterable<RequestCounts>) {
  for (const { operation, counts } of operations) {
    const { method, path } = operation;
    for (let status = 0; status < counts.length; status++) {
      const count = counts[status] ?? 0;
      if (count === 0) continue;
      yield [count, { method, path, status }] as const;
    }
    if (!counts[500]) yield [0, { method, path, status: 500 }] as const;
  }
}

function serviceHistograms(sources: MetricSources): Metric<string>[] {
  return [
    histogramMetric(
      'fourbeat_request_duration_seconds',
      'Time until the response started. Feed requests wait for their interval to be sealed.',
      function* () {
        for (const { operation, durations } of sources.requests()) {
          const labels = { method: operation.method, path: operation.path };
          if (durations.counts.some((count) => count > 0)) yield [durations, labels];
        }
      },
    ),
    histogramMetric(
      'fourbeat_seal_latency_seconds',
      'Time from the end of an interval until this node could serve it.',
      () => [[sources.sealLatency, {}]],
    ),
  ];
}

type Labels = Record<string, string>;

/** A metric of our `Histogram`s: the histogram class of prom-client can only record values itself. */
function histogramMetric(
  name: string,
  help: string,
  read: () => Iterable<[buckets: Histogram, labels: Labels]>,
): Metric<string> {
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...read()].flatMap(([buckets, labels]) => histogramSamples(name, buckets, labels)),
  });
  return { name, get } as unknown as Metric<string>;
}

/** Cumulative buckets, as Prometheus has them. */
function histogramSamples(name: string, { bounds, counts, sum }: Histogram, labels: Labels) {
  let total = 0;
  const buckets = [...counts].map((count, index) => {
    total += count;
    const le = String(bounds[index] ?? '+Inf');
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
