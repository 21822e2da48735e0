// What wrk sends is a script in Lua. Requests are made here, once; the script sends their bytes
// again, which takes LuaJIT a fraction of a microsecond each.

/** A request that is sent over and over. */
export interface WrkRequest {
  readonly method: string;
  /** With NUMBER or INTERVAL where each one that is sent has another. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** With NUMBER where each one that is sent has another. */
  readonly body?: string;
}

/** Requests that come between the others. */
export interface Sometimes {
  /** Each `every`-th request is one of these, in turn. */
  readonly every: number;
  readonly requests: readonly WrkRequest[];
  /** Each is sent once, and then no more of them. */
  readonly once?: boolean;
}

/** Stands for ten digits: a number that no other request of a load has. */
export const NUMBER = '{number__}';
/** Stands for an interval that was sealed a moment ago: the one before the one that ended last. */
export const INTERVAL = '{interval}';

const MARKERS = [NUMBER, INTERVAL];

/** The bytes of a request, as text. @param host as its header has it */
export function requestText({ method, path, headers, body }: WrkRequest, host: string): string {
  const fields = { Host: host, ...headers, ...(body !== undefined && lengthOf(body)) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

// A marker is as long as what it stands for.
const lengthOf = (body: string) => ({ 'Content-Length': String(Buffer.byteLength(body)) });

/** What is before a marker, which marker it is (0 for none), and what is behind it. */
export function partsOf(text: string): [before: string, marker: number, behind: string] {
  for (const [at, marker] of MARKERS.entries()) {
    const [before = '', behind, ...more] = text.split(marker);
    if (more.length > 0) throw new Error(`a request has ${marker} once`);
    if (behind !== undefined) return [before, at + 1, behind];
  }
  return [text, 0, ''];
}

/**
 * The script. It prints a line `outcome` with JSON at the end.
 * @param firstNumber of those that stand for NUMBER
 */
export function scriptOf(
  host: string,
  requests: readonly WrkRequest[],
  sometimes: readonly Sometimes[] = [],
  firstNumber = 0,
): string {
  const lists = [{ every: 1, requests }, ...sometimes];
  return `
local lists = {}
${lists.map((list) => listOf(host, list)).join('\n')}
local number = ${firstNumber}
${RUNNING}`;
}

function listOf(host: string, { every, requests, once = false }: Sometimes): string {
  const rows = requests.map((request) => {
    const [before, marker, behind] = partsOf(requestText(request, host));
    return `l.n=l.n+1;l.before[l.n]=${quoted(before)};l.marker[l.n]=${marker};l.behind[l.n]=${quoted(behind)}`;
  });
  const list = `{every=${every},once=${once},n=0,at=0,before={},marker={},behind={}}`;
  return `do local l=${list}\n${rows.join('\n')}\nlists[#lists+1]=l end`;
}

// Lua's strings in quotes end lines as JSON's do, and need nothing else of what is sent here.
const quoted = (text: string) => JSON.stringify(text);

const RUNNING = `
local ffi = require('ffi')
ffi.cdef('typedef struct { long s; long us; } bench_time; int gettimeofday(bench_time *, void *);')
local time = ffi.new('bench_time')
local interval, intervalText = 0, ''
local function sealed()
  ffi.C.gettimeofday(time, nil)
  local now = math.floor(tonumber(time.s) * 4 + tonumber(time.us) / 250000)
  if now ~= interval then interval, intervalText = now, string.format('%.0f', now - 2) end
  return intervalText
end
-- How many of each list: a global, for the thread of "done" to read.
sent = {}
for i = 1, #lists do sent[i] = 0 end
local counts = sent
local function nextOf(i, list)
  local at = list.at % list.n + 1
  list.at, counts[i] = at, counts[i] + 1
  local marker = list.marker[at]
  if marker == 0 then return list.before[at] end
  if marker == 2 then return list.before[at] .. sealed() .. list.behind[at] end
  number = number + 1
  return list.before[at] .. string.format('%010d', number) .. list.behind[at]
end
local main, count = lists[1], 0
function request()
  count = count + 1
  for i = 2, #lists do
    local list = lists[i]
    if count % list.every == 0 and not (list.once and counts[i] >= list.n) then return nextOf(i, list) end
  end
  return nextOf(1, main)
end
local threads = {}
function setup(thread) threads[#threads + 1] = thread end
function done(summary, latency)
  local e = summary.errors
  print(string.format(
    'outcome {"requests":%d,"seconds":%.6f,"bytes":%d,"errors":%d,"p50Ms":%.3f,"p99Ms":%.3f,"sent":[%s]}',
    summary.requests, summary.duration / 1e6, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, table.concat(threads[1]:get('sent'), ',')))
end
`;
