import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaryOf } from '../../test/support/backends/server-programs.ts';
import { WrongAnswer } from './bench.ts';
import { LOAD_CORE, lineOf, startPinned } from './pinned.ts';
import { temporaryFolder } from './temporary.ts';
import { type Sometimes, scriptOf, type WrkRequest } from './wrk-script.ts';

export interface WrkLoad {
  readonly url: string;
  /** They are sent in turn, by all connections together. */
  readonly requests: readonly WrkRequest[];
  /** What is sent between them. */
  readonly sometimes?: readonly Sometimes[];
  /** The first of those that stand for NUMBER, less one. */
  readonly firstNumber?: number;
  readonly connections?: number;
  readonly seconds: number;
}

/** What came back. */
export interface WrkOutcome {
  readonly requests: number;
  readonly perSecond: number;
  /** Of all answers, heads and all. */
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How many were made of `requests`, and of each of `sometimes`; one of them may not have been sent. */
  readonly sent: readonly number[];
}

/** As many as the figures of others are made with. */
export const CONNECTIONS = 64;

/**
 * Has `wrk` ask as fast as it gets answers, from the core of the load.
 * @throws WrongAnswer when one was missing, or told an error
 */
export async function wrk({
  url,
  requests,
  sometimes = [],
  firstNumber = 0,
  connections = CONNECTIONS,
  seconds,
}: WrkLoad): Promise<WrkOutcome> {
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
      throw new WrongAnswer(
        `${url}: ${outcome.errors} of ${outcome.requests} answers were errors or missing`,
      );
    }
    return { ...outcome, perSecond: outcome.requests / outcome.seconds };
  } finally {
    folder.remove();
  }
}
