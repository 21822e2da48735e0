// The Lua script of wrk. Requests are built here, once; the script repeats their bytes, which takes
// LuaJIT less than a microsecond each.

/** A request that is sent repeatedly. */
export interface WrkRequest {
  readonly method: string;
  /** May contain NUMBER or INTERVAL, which are replaced each time. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** May contain NUMBER, which is replaced each time. */
  readonly body?: string;
}

/** Requests that are sent between the others. */
export interface OccasionalRequests {
  /** Every `every`-th request is one of these, cyclically. */
  readonly every: number;
  readonly requests: readonly WrkRequest[];
  /** Whether each is sent only once. */
  readonly once?: boolean;
}

/** Placeholder of ten digits: a number that no other request of the load has. */
export const NUMBER = '{number__}';
/** Placeholder for a recently sealed interval: the one before the last that ended. */
export const INTERVAL = '{interval}';

const MARKERS = [NUMBER, INTERVAL];

/** The bytes of a request as text. @param host value of the Host header */
export function requestText({ method, path, headers, body }: WrkRequest, host: string): string {
  const fields = { Host: host, ...headers, ...(body !== undefined && lengthOf(body)) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

// A marker has the length of its value.
const lengthOf = (body: string) => ({ 'Content-Length': String(Buffer.byteLength(body)) });

/** The text before a marker, its index in the script (1 NUMBER, 2 INTERVAL, 0 none), and the text after it. */
export function partsOf(text: string): [before: string, marker: number, after: string] {
  for (const [at, marker] of MARKERS.entries()) {
    const [before = '', after, ...more] = text.split(marker);
    if (more.length > 0) throw new Error(`a request may contain ${marker} only once`);
    if (after !== undefined) return [before, at + 1, after];
  }
  return [text, 0, ''];
}

/**
 * The script. At its end it prints a line `outcome` with JSON.
 * @param previousNumber NUMBER starts after this value
 */
export function scriptOf(
  host: string,
  requests: readonly WrkRequest[],
  occasional: readonly OccasionalRequests[] = [],
  previousNumber = 0,
): string {
  const lists = [{ every: 1, requests }, ...occasional];
  return `
local lists = {}
${lists.map((list) => listOf(host, list)).join('\n')}
local number = ${previousNumber}
${LUA_PROGRAM}`;
}

function listOf(host: string, { every, requests, once = false }: OccasionalRequests): string {
  const rows = requests.map((request) => {
    const [before, marker, after] = partsOf(requestText(request, host));
    return `l.n=l.n+1;l.before[l.n]=${quoted(before)};l.marker[l.n]=${marker};l.after[l.n]=${quoted(after)}`;
  });
  const list = `{every=${every},once=${once},n=0,at=0,before={},marker={},after={}}`;
  return `do local l=${list}\n${rows.join('\n')}\nlists[#lists+1]=l end`;
}

// Quoted Lua strings have the escapes of JSON, as far as these requests need them.
const quoted = (text: string) => JSON.stringify(text);

const LUA_PROGRAM = `
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
-- Number of requests built from each list: a global, for the thread of "done" to read.
sent = {}
for i = 1, #lists do sent[i] = 0 end
local counts = sent
local function nextOf(i, list)
  local at = list.at % list.n + 1
  list.at, counts[i] = at, counts[i] + 1
  local marker = list.marker[at]
  if marker == 0 then return list.before[at] end
  if marker == 2 then return list.before[at] .. sealed() .. list.after[at] end
  number = number + 1
  return list.before[at] .. string.format('%010d', number) .. list.after[at]
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
