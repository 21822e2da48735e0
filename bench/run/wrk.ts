import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryOf } from '../../test/backends/server-programs.ts';
import { WrongAnswer } from './bench.ts';
import { LOAD_CORE, lineOf, startPinned } from './pinned.ts';

/** What is sent over and over. */
export interface WrkRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface WrkLoad {
  readonly url: string;
  /** They are sent in turn, by all connections together. */
  readonly requests: readonly WrkRequest[];
  readonly connections?: number;
  readonly seconds: number;
}

/** What came back. */
export interface WrkOutcome {
  readonly requests: number;
  readonly perSecond: number;
  readonly bytes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** As many as the figures of others are made with. */
const CONNECTIONS = 64;

/**
 * Has `wrk` ask as fast as it gets answers, from the core of the load.
 * @throws WrongAnswer when one was missing, or told an error
 */
export async function wrk({
  url,
  requests,
  connections = CONNECTIONS,
  seconds,
}: WrkLoad): Promise<WrkOutcome> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-wrk-'));
  try {
    const script = join(directory, 'load.lua');
    writeFileSync(script, scriptOf(requests));
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
    rmSync(directory, { recursive: true, force: true });
  }
}

// A request is made once and its bytes sent again: LuaJIT then takes a fraction of a microsecond each.
function scriptOf(requests: readonly WrkRequest[]): string {
  const made = requests.map(({ method, path, headers, body }) => {
    const fields = Object.entries(headers).map(
      ([name, value]) => `[${quoted(name)}]=${quoted(value)}`,
    );
    const arguments_ = [quoted(method), quoted(path), `{${fields.join(',')}}`];
    return `  all[#all+1] = wrk.format(${[...arguments_, body === undefined ? 'nil' : quoted(body)].join(', ')})`;
  });
  return `
local all = {}
local at = 0
function init(arguments)
${made.join('\n')}
end
function request()
  at = at % #all + 1
  return all[at]
end
function done(summary, latency)
  local e = summary.errors
  print(string.format(
    'outcome {"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"p50Ms":%.3f,"p99Ms":%.3f}',
    summary.requests, summary.duration / 1e6, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
`;
}

// Lua's strings in quotes end lines as JSON's do, and need nothing else of what is sent here.
const quoted = (text: string) => JSON.stringify(text);
