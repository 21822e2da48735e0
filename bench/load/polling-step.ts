import { IncorrectResponse } from '../run/bench.ts';
import type { Fourbeat } from '../run/fourbeat.ts';
import { startLoad } from './load.ts';
import type { PollingResult, PollingTask } from './polling-load.ts';
import { PERIOD_MS, REQUESTS_PER_PERIOD } from './schedule.ts';

/** A measurement with a number of polling viewers. */
export interface PollingStep {
  readonly viewers: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerS: number;
  /** CPU of the server, in cores. */
  readonly serverCpuCores: number;
  /** CPU of the server per response, µs. */
  readonly cpuUs: number;
  readonly memoryBytes: number;
  /** Empty when every response was correct and every viewer was counted. */
  readonly failures: readonly string[];
  /** Whether the load generator was saturated and the server was not: the server could serve more. */
  readonly isLoadGeneratorLimit: boolean;
  /** CPU of the load generator, in cores. */
  readonly loadCpuCores: number;
}

/** A process may have 20,000 open files. A larger number of viewers shares this many connections. */
export const CONNECTIONS_MAX = 19_500;
const WARM_UP_MS = 3_000;
/** Above this the server is the bottleneck, even if the load sends late. In cores. */
const SERVER_CPU_SATURATED = 0.9;

/**
 * Measures a server while these viewers poll. `expectedCount` differs from their number when other viewers poll
 * other nodes.
 * @throws IncorrectResponse for a response with wrong content; a missing one is a failure of the step
 */
export async function pollingStep(
  { url, streamId, server }: Pick<Fourbeat, 'url' | 'streamId' | 'server'>,
  tokens: readonly string[],
  seconds: number,
  {
    periodMs = PERIOD_MS,
    expectedCount = tokens.length,
  }: { periodMs?: number; expectedCount?: number } = {},
): Promise<PollingStep> {
  const { hostname, port } = new URL(url);
  const task: PollingTask = {
    address: hostname,
    port: Number(port),
    streamId,
    tokens,
    maxConnections: CONNECTIONS_MAX,
    periodMs,
    warmUpMs: WARM_UP_MS,
    measuredMs: seconds * 1_000,
  };
  const load = startLoad('polling-load.ts', task);
  try {
    await load.receive('measuring');
    const before = server.usage();
    await load.receive('measured');
    const after = server.usage();
    const outcome = await load.receive<PollingResult>('outcome');
    if (outcome.incorrect !== null) throw new IncorrectResponse(outcome.incorrect);
    const cpuS = after.cpuS - before.cpuS;
    const { p50Ms, p99Ms } = outcome.latencies;
    return {
      viewers: tokens.length,
      p50Ms,
      p99Ms,
      requestsPerS: outcome.responses / seconds,
      serverCpuCores: cpuS / seconds,
      cpuUs: (cpuS / Math.max(1, outcome.responses)) * 1e6,
      memoryBytes: after.memoryBytes,
      failures: [
        ...failuresOf(
          outcome,
          tokens.length * REQUESTS_PER_PERIOD * ((seconds * 1_000) / periodMs),
        ),
        ...miscounts(outcome, expectedCount),
      ],
      isLoadGeneratorLimit: cpuS / seconds < SERVER_CPU_SATURATED && isLoadSaturated(outcome),
      loadCpuCores: outcome.loadCpuCores,
    };
  } finally {
    await load.stop();
  }
}

const LOAD_CPU_MAX = 0.95;
const SEND_DELAY_MAX_MS = 10;

/** Whether the core of the load is saturated, or requests are sent late. */
function isLoadSaturated({ loadCpuCores, sendDelayP99Ms }: PollingResult): boolean {
  return loadCpuCores >= LOAD_CPU_MAX || sendDelayP99Ms > SEND_DELAY_MAX_MS;
}

// Least share of expected responses: the last ones may arrive after the measurement.
const SHARE_MIN = 0.99;

function failuresOf({ failed, failures, responses }: PollingResult, expected: number): string[] {
  const few = responses < expected * SHARE_MIN ? [`${responses} responses of ${expected}`] : [];
  return [...(failed > 0 ? [`${failed} failed`, ...failures] : []), ...few];
}

function miscounts({ counts }: PollingResult, expectedCount: number): string[] {
  if (counts.length === 0) return ['no interval had a view count'];
  const wrong = counts.filter((count) => count !== expectedCount);
  return wrong.length > 0 ? [`counted ${wrong.join(', ')} of ${expectedCount}`] : [];
}
