import { WrongAnswer } from '../run/bench.ts';
import type { Fourbeat } from '../run/fourbeat.ts';
import { startLoad } from './load.ts';
import { isLimit } from './own-limit.ts';
import type { CrowdOptions } from './polling-crowd.ts';
import type { PollingOutcome, PollingTask } from './polling-load.ts';
import { REQUESTS_A_ROUND, ROUND_MS } from './schedule.ts';

/** So many viewers who poll for a while, and how it went. */
export interface PollingStep {
  readonly viewers: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly requestsPerS: number;
  /** Of the server. */
  readonly cpuShare: number;
  readonly cpuUs: number;
  readonly memoryBytes: number;
  /** What went wrong; none when every answer came and was right, and all viewers were counted. */
  readonly troubles: readonly string[];
  /** The load itself could not do more: it says nothing of the server. */
  readonly isLoadLimit: boolean;
  /** Of the core of the load. */
  readonly loadShare: number;
}

/** A process may have 20,000 open files here, and a server has some of its own: more viewers share. */
export const CONNECTIONS_MAX = 19_500;
const WARM_UP_MS = 3_000;
/** A server whose core is as full as this is what held answers up, however late the load was. */
const SERVER_FULL = 0.9;

/** @throws WrongAnswer when an answer was not the right one; none at all is a trouble, not wrong */
export async function pollingStep(
  { url, streamId, server }: Pick<Fourbeat, 'url' | 'streamId' | 'server'>,
  tokens: readonly string[],
  seconds: number,
  {
    connectionsMax = CONNECTIONS_MAX,
    roundMs = ROUND_MS,
    counted = tokens.length,
  }: Partial<Pick<CrowdOptions, 'connectionsMax' | 'roundMs'>> & { counted?: number } = {},
): Promise<PollingStep> {
  const { hostname, port } = new URL(url);
  const task: PollingTask = {
    address: hostname,
    port: Number(port),
    streamId,
    tokens,
    connectionsMax,
    roundMs,
    warmUpMs: WARM_UP_MS,
    measuredMs: seconds * 1_000,
  };
  const load = startLoad('polling-load.ts', task);
  try {
    await load.said('measuring');
    const before = server.usage();
    await load.said('measured');
    const after = server.usage();
    const outcome = await load.said<PollingOutcome>('outcome');
    if (outcome.wrong !== null) throw new WrongAnswer(outcome.wrong);
    const cpuS = after.cpuS - before.cpuS;
    const { p50Ms, p99Ms } = outcome.latencies;
    return {
      viewers: tokens.length,
      p50Ms,
      p99Ms,
      requestsPerS: outcome.answered / seconds,
      cpuShare: cpuS / seconds,
      cpuUs: (cpuS / Math.max(1, outcome.answered)) * 1e6,
      memoryBytes: after.memoryBytes,
      troubles: [
        ...troublesOf(outcome, tokens.length * REQUESTS_A_ROUND * ((seconds * 1_000) / roundMs)),
        ...miscounts(outcome, counted),
      ],
      isLoadLimit: cpuS / seconds < SERVER_FULL && isLimit(outcome),
      loadShare: outcome.cpuShare,
    };
  } finally {
    await load.stop();
  }
}

// The last ones of the time may be measured a moment later.
const SHARE_MIN = 0.99;

function troublesOf({ failed, troubles, answered }: PollingOutcome, expected: number): string[] {
  const few = answered < expected * SHARE_MIN ? [`${answered} answers of ${expected}`] : [];
  return [...(failed > 0 ? [`${failed} failed`, ...troubles] : []), ...few];
}

function miscounts({ counts }: PollingOutcome, counted: number): string[] {
  if (counts.length === 0) return ['no interval told a count'];
  const wrong = counts.filter((count) => count !== counted);
  return wrong.length > 0 ? [`counted ${wrong.join(', ')} of ${counted}`] : [];
}
