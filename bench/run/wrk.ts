import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryOf } from '../../test/support/backends/server-programs.ts';
import { IncorrectResponse } from './bench.ts';
import { LOAD_CORE, lineOf, startPinned } from './pinned.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { type OccasionalRequests, scriptOf, type WrkRequest } from './wrk-script.ts';

export interface WrkLoad {
  readonly url: string;
  /** Sent cyclically by all connections together. */
  readonly requests: readonly WrkRequest[];
  /** Sent between `requests`. */
  readonly sometimes?: readonly OccasionalRequests[];
  /** One less than the first value of NUMBER. */
  readonly firstNumber?: number;
  readonly connections?: number;
  readonly seconds: number;
}

export interface WrkResult {
  readonly requests: number;
  readonly requestsPerS: number;
  /** Bytes of all responses, including heads. */
  readonly bytes: number;
  readonly p99Ms: number;
  /** Number of `requests` and of each of `sometimes`; the last one may not have been sent. */
  readonly sent: readonly number[];
}

/** Connections by default, as in many published benchmarks. */
export const CONNECTIONS = 64;

/**
 * Runs `wrk` on the core of the load; each connection sends a request after each response.
 * @throws IncorrectResponse for a missing or failed response
 */
export async function wrk({
  url,
  requests,
  sometimes = [],
  firstNumber = 0,
  connections = CONNECTIONS,
  seconds,
}: WrkLoad): Promise<WrkResult> {
  const folder = temporaryFolder('wrk');
  try {
    const script = join(folder.path, 'load.lua');
    writeFileSync(script, scriptOf(new URL(url).host, requests, sometimes, firstNumber));
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
    const [, found = ''] = await lineOf(program, /^outcome (.*)$/m);
    await program.child.exited;
    const outcome = JSON.parse(found);
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
