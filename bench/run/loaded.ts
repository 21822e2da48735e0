import type { Pinned } from './pinned.ts';
import { type WrkLoad, type WrkOutcome, wrk } from './wrk.ts';

/** What is asked by `wrk`. */
export interface Loading extends WrkLoad {
  readonly server: Pinned;
  /** Looks, while the load is on, whether the server does what it should. */
  readonly check?: (ending: AbortSignal) => Promise<void>;
}

/** What came of it, with the figures that most benches have. */
export interface Loaded {
  readonly outcome: WrkOutcome;
  /** Of the server, in the time of the load. */
  readonly cpuS: number;
  readonly figures: {
    readonly 'requests/s': number;
    readonly 'CPU µs a request': number;
    readonly 'p99 ms': number;
    /** With its head. */
    readonly 'bytes an answer': number;
  };
}

/** @throws WrongAnswer when an answer was missing or an error, and what the check throws */
export async function underLoad({ server, check, ...load }: Loading): Promise<Loaded> {
  const before = server.usage();
  const ending = new AbortController();
  const working = wrk(load).finally(() => ending.abort());
  // The check is over with the load, so neither leaves the other behind when it fails.
  const [outcome] = await Promise.all([working, check?.(ending.signal)]);
  const cpuS = server.usage().cpuS - before.cpuS;
  return {
    outcome,
    cpuS,
    figures: {
      'requests/s': outcome.perSecond,
      'CPU µs a request': (cpuS / outcome.requests) * 1e6,
      'p99 ms': outcome.p99Ms,
      'bytes an answer': outcome.bytes / outcome.requests,
    },
  };
}
