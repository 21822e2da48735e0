import type { Metric, Registry } from 'prom-client';
import { Histogram } from './histogram.ts';

/** Answers of one operation, by status. */
export interface RequestCounts {
  readonly operation: { readonly method: string; readonly path: string };
  /** How many answers had the status that is the index. */
  readonly counts: ArrayLike<number>;
  /** Seconds until the answers began. */
  readonly durations: Histogram;
}

/** What metrics are made of: plain counters and readings, looked at only when somebody asks. */
export interface MetricSources {
  readonly version: string;
  requests(): Iterable<RequestCounts>;
  /** Streams with viewers now, each once, with their count. */
  viewers(): Iterable<readonly [streamId: string, count: number]>;
  /** The last sealed interval. */
  watermark(): number;
  /** How late intervals were sealed, in seconds. */
  readonly sealLateness: Histogram;
  /** Calls of the database that wait for their answer. */
  databasePendingCalls(): number;
  /** Answers to quizzes, by what was decided. */
  answers(): Iterable<readonly [decision: string, count: number]>;
  /** Service time minus system time, in ms. */
  clockOffsetMs(): number;
  /** How far the feed that can be read here is behind, in ms. */
  behindMs(): number;
  /** Servers that the service needs, with why each cannot be reached now, or null. */
  readonly backends: readonly { readonly name: string; unavailable(): string | null }[];
  /** Feed requests that are held, and event streams that are open. */
  feed(): { readonly held: number; readonly listeners: number };
  /** What parts of the service that may not run here add. */
  readonly more: readonly Reading[];
}

/** Metrics in the text format of Prometheus (SPEC O-12). */
export interface Metrics {
  readonly contentType: string;
  render(): Promise<string>;
}

const SEAL_LATENESS_BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** A place to count how late intervals are sealed, in seconds. */
export function newSealLateness(): Histogram {
  return new Histogram(SEAL_LATENESS_BOUNDS_S);
}

/** Metrics of these sources. The library is loaded when they are first asked for. */
export function createMetrics(sources: MetricSources): Metrics {
  let registry: Promise<Registry> | null = null;
  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async render() {
      registry ??= registryOf(sources);
      return (await registry).metrics();
    },
  };
}

// What the library says of the process and is true on Bun; the rest is about V8, and its time on
// the processor starts from 0 when the library is loaded.
const PROCESS_METRICS = new Set([
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_max_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
]);

async function registryOf(sources: MetricSources): Promise<Registry> {
  const { Registry, Counter, Gauge, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (!PROCESS_METRICS.has(name)) registry.removeSingleMetric(name);
  }
  for (const { kind, name, help, labelNames = [], read } of [
    ...readingsOf(sources),
    ...sources.more,
  ]) {
    const common = { name, help, labelNames, registers: [registry] };
    if (kind === 'gauge') {
      new Gauge({
        ...common,
        collect() {
          this.reset();
          for (const [value, labels = {}] of read()) this.set(labels, value);
        },
      });
    } else {
      new Counter({
        ...common,
        collect() {
          this.reset();
          for (const [value, labels = {}] of read()) this.inc(labels, value);
        },
      });
    }
  }
  for (const made of histogramsOf(sources)) registry.registerMetric(made);
  return registry;
}

/** A metric that is read off a source each time the page is asked for. */
export interface Reading {
  readonly kind: 'gauge' | 'counter';
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  read(): Iterable<readonly [value: number, labels?: Record<string, string | number>]>;
}

function readingsOf(sources: MetricSources): Reading[] {
  return [
    {
      kind: 'gauge',
      name: 'fourbeat_build_info',
      help: 'Always 1; the version of the program is its label.',
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
      kind: 'counter',
      name: 'fourbeat_requests_total',
      help: 'Requests by route and status.',
      labelNames: ['method', 'path', 'status'],
      read: () => answersByStatus(sources.requests()),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_viewers',
      help: 'Viewers that this node has now, over all streams.',
      read: () => [[[...sources.viewers()].reduce((sum, [, count]) => sum + count, 0)]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_watched_streams',
      // How many and not which: the page is open, and the id is all that protects an unlisted
      // stream (SPEC S-14).
      help: 'Streams that have viewers on this node now.',
      read: () => [[[...sources.viewers()].length]],
    },
    {
      kind: 'counter',
      name: 'fourbeat_answers_total',
      help: 'Answers to quizzes by what was decided.',
      labelNames: ['decision'],
      read: () => [...sources.answers()].map(([decision, count]) => [count, { decision }]),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_watermark',
      help: 'The last sealed interval that can be read here.',
      read: () => [[sources.watermark()]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_feed_behind_seconds',
      help: 'How far the feed that can be read here is behind.',
      // A record on which nothing was ever sealed is behind by half a century.
      read: () => [[sources.watermark() < 0 ? 0 : sources.behindMs() / 1000]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_backend_away',
      help: '1 while the backend cannot be reached.',
      labelNames: ['backend'],
      read: () =>
        sources.backends.map(({ name, unavailable }) => [
          Number(unavailable() !== null),
          { backend: name },
        ]),
    },
    {
      kind: 'gauge',
      name: 'fourbeat_record_pending',
      help: 'Calls of the database that wait for their answer.',
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
      name: 'fourbeat_held_requests',
      help: 'Feed requests held for their interval.',
      read: () => [[sources.feed().held]],
    },
    {
      kind: 'gauge',
      name: 'fourbeat_event_streams',
      help: 'Event streams that are open.',
      read: () => [[sources.feed().listeners]],
    },
  ];
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

function* answersByStatus(operations: Iterable<RequestCounts>) {
  for (const { operation, counts } of operations) {
    for (let status = 0; status < counts.length; status++) {
      const count = counts[status] as number;
      if (count > 0) {
        yield [count, { method: operation.method, path: operation.path, status }] as const;
      }
    }
  }
}

function histogramsOf(sources: MetricSources): Metric<string>[] {
  return [
    histogram(
      'fourbeat_request_duration_seconds',
      'Time until the answer began. Feed requests are held until their interval is sealed.',
      function* () {
        for (const { operation, durations } of sources.requests()) {
          const labels = { method: operation.method, path: operation.path };
          if (durations.counts.some((count) => count > 0)) yield [durations, labels];
        }
      },
    ),
    histogram(
      'fourbeat_seal_lateness_seconds',
      'Time from the end of an interval until it could be served.',
      () => [[sources.sealLateness, {}]],
    ),
  ];
}

type Labels = Record<string, string>;

/** A metric that the registry prints as it is: the library's own keeps counts of its own. */
function histogram(
  name: string,
  help: string,
  read: () => Iterable<[buckets: Histogram, labels: Labels]>,
): Metric<string> {
  const get = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...read()].flatMap(([buckets, labels]) => samplesOf(name, buckets, labels)),
  });
  return { name, get } as unknown as Metric<string>;
}

/** Buckets as Prometheus has them: each with all that is at most its bound. */
function samplesOf(name: string, { bounds, counts, sum }: Histogram, labels: Labels) {
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
