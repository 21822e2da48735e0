import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryOf } from '../../test/support/backends/server-programs.ts';
import { IncorrectResponse } from './bench.ts';
import { LOAD_CORE, startPinned, waitForOutput } from './pinned.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { type OccasionalRequests, scriptOf, type WrkRequest } from './wrk-script.ts';

/** The load of one run of `wrk`. */
export interface WrkLoad {
  readonly url: string;
  /** Sent cyclically by all connections together. */
  readonly requests: readonly WrkRequest[];
  /** Sent between `requests`. */
  readonly occasional?: readonly OccasionalRequests[];
  /** NUMBER starts after this value. */
  readonly previousNumber?: number;
  readonly connections?: number;
  readonly seconds: number;
}

export interface WrkResult {
  readonly requests: number;
  readonly requestsPerS: number;
  /** Bytes of all responses, including heads. */
  readonly bytes: number;
  readonly p99Ms: number;
  /** How many of `requests`, and of each of `occasional`, the script built; wrk may end before it sends the last ones. */
  readonly sent: readonly number[];
}

/** The default number of connections, as in many published benchmarks. */
export const CONNECTIONS = 64;

/**
 * Runs `wrk` on the core of the load; each connection sends a request after each response.
 * @throws IncorrectResponse for a missing or failed response
 */
export async function wrk({
  url,
  requests,
  occasional = [],
  previousNumber = 0,
  connections = CONNECTIONS,
  seconds,
}: WrkLoad): Promise<WrkResult> {
  const folder = temporaryFolder('wrk');
  try {
    const script = join(folder.path, 'load.lua');
    writeFileSync(script, scriptOf(new URL(url).host, requests, occasional, previousNumber));
    const arguments_ = [
      '-t1',
      `-c${connections}`,
      `-d${seconds}s`,
      '--timeout',
      '5s',
      '-s',
      script,
    ];
    const program = startPinned(LOAD_CORE, [binaryOf('wrk', 'wrk'), ...arguments_, url]);
    const [, outcomeJson = ''] = await waitForOutput(program, /^outcome (.*)$/m);
    await program.child.exited;
    const outcome = JSON.parse(outcomeJson);
    if (outcome.errors > 0) {
      throw new IncorrectResponse(
        `${url}: ${outcome.errors} of ${outcome.requests} responses were errors or missing`,
      );
    }
    return { ...outcome, requestsPerS: outcome.requests / outcome.seconds };
  } finally {
    folder.remove();
  }
}
