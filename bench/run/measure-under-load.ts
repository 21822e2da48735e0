import type { Pinned } from './pinned.ts';
import { type WrkLoad, type WrkResult, wrk } from './wrk.ts';

/** A load of `wrk` on a server. */
interface MeasuredLoad extends WrkLoad {
  readonly server: Pinned;
  /** Checks responses of the server until the load has ended. */
  readonly check?: (loadEnded: AbortSignal) => Promise<void>;
}

/** The result of `wrk`, and the figures that most benchmarks have. */
interface LoadMeasurement {
  readonly outcome: WrkResult;
  /** CPU of the server during the load, in seconds. */
  readonly cpuS: number;
  readonly figures: {
    readonly 'requests/s': number;
    readonly 'CPU µs a request': number;
    readonly 'p99 ms': number;
    /** Response size, including the head. */
    readonly 'bytes a response': number;
  };
}

/** Runs the load. @throws IncorrectResponse for a missing or failed response, and what the check throws */
export async function measureUnderLoad({
  server,
  check,
  ...load
}: MeasuredLoad): Promise<LoadMeasurement> {
  const before = server.usage();
  const loadEnded = new AbortController();
  const running = wrk(load).finally(() => loadEnded.abort());
  // The check ends with the load, so that a failure of one leaves no work of the other behind.
  const [outcome] = await Promise.all([running, check?.(loadEnded.signal)]);
  const cpuS = server.usage().cpuS - before.cpuS;
  return {
    outcome,
    cpuS,
    figures: {
      'requests/s': outcome.requestsPerS,
      'CPU µs a request': (cpuS / outcome.requests) * 1e6,
      'p99 ms': outcome.p99Ms,
      'bytes a response': outcome.bytes / outcome.requests,
    },
  };
}
