import { cc, ptr } from 'bun:ffi';
import { fileURLToPath } from 'node:url';
import type { EventsInterval } from '../../protocol/feed.ts';
import type { ViewCount } from '../../protocol/view-counts.ts';
import { latencyHistogram, record } from './latency.ts';
import { REQUESTS_PER_PERIOD, scheduleOf } from './schedule.ts';

/** Polling viewers: each sends a heartbeat and reads four sealed intervals a second, at fixed times. */
export interface PollingOptions {
  /** IPv4. */
  readonly address: string;
  readonly port: number;
  readonly streamId: string;
  readonly tokens: readonly string[];
  /** Maximum number of sockets; a larger number of viewers shares them, as behind a proxy. */
  readonly maxConnections: number;
  /** Time in which each viewer sends its five requests: 1 s, except where memory is measured. */
  readonly periodMs: number;
}

const { symbols: native } = cc({
  source: fileURLToPath(new URL('polling-viewers.c', import.meta.url)),
  symbols: {
    load_requests: { args: ['ptr', 'ptr', 'ptr', 'int'], returns: 'void' },
    load_schedule: { args: ['ptr', 'ptr', 'ptr', 'int', 'double'], returns: 'void' },
    load_results: { args: ['ptr', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'void' },
    load_open: { args: ['u32', 'int', 'int', 'int'], returns: 'int' },
    load_run: { args: ['double', 'int'], returns: 'void' },
    load_end: { args: ['double'], returns: 'int' },
  },
});

const US_PER_MS = 1_000;
/** A larger batch would overflow the listen queue of the server. */
const OPEN_CONCURRENCY = 100;
const OPEN_PAUSE_MS = 5;
const DIGITS = 10;
/** BODIES_MAX and FAILURE_TEXT_MAX of polling-viewers.c. */
const BODIES_BYTES = 1 << 20;
const FAILURE_BYTES = 1000;
/** Room for requests of the warm-up that are sent late, during the measurement. */
const RESERVE_SHARE = 0.1;
const RESERVE_PERIODS = 10;

/**
 * An open-loop load: requests have fixed times that do not depend on responses, and latency is measured from
 * these times.
 */
export class PollingViewers {
  readonly latencies = latencyHistogram();
  /** Time from the planned time of a request to its sending. */
  readonly sendDelays = latencyHistogram();
  /** Buffers that the C code reads; referenced here so that they are not collected. */
  readonly memory: readonly ArrayBufferView[];
  private readonly results = new BigInt64Array(8);
  private readonly bodies = Buffer.alloc(BODIES_BYTES);
  private readonly failureText = Buffer.alloc(FAILURE_BYTES);
  private readonly latencyUs: Float32Array;
  private readonly sendDelayUs: Float32Array;
  private missing = 0;

  /** @param measuredMs total duration of the measurement */
  constructor(
    private readonly options: PollingOptions,
    measuredMs: number,
  ) {
    const { tokens, periodMs } = options;
    const { length, atMs, viewer, kind } = scheduleOf(tokens.length, periodMs);
    const periods = measuredMs / periodMs;
    const capacity = Math.ceil(
      tokens.length * REQUESTS_PER_PERIOD * (periods * (1 + RESERVE_SHARE) + RESERVE_PERIODS),
    );
    this.latencyUs = new Float32Array(capacity);
    this.sendDelayUs = new Float32Array(capacity);
    const requests = requestsOf(options);
    const atUs = atMs.map((ms) => ms * US_PER_MS);
    this.memory = [requests.bytes, requests.heartbeats, requests.feeds, atUs, viewer, kind];
    const { bytes, heartbeats, feeds, digitsAt } = requests;
    native.load_requests(ptr(bytes), ptr(heartbeats), ptr(feeds), digitsAt);
    native.load_schedule(ptr(atUs), ptr(viewer), ptr(kind), length, periodMs * US_PER_MS);
    native.load_results(
      ptr(this.latencyUs),
      ptr(this.sendDelayUs),
      ptr(this.results),
      ptr(this.bodies),
      ptr(this.failureText),
    );
  }

  /** Opens the sockets in batches. @throws Error when one is refused */
  async connect(): Promise<void> {
    const { tokens, maxConnections, address, port } = this.options;
    const count = Math.min(tokens.length, maxConnections);
    const ip = new DataView(Uint8Array.from(address.split('.'), Number).buffer).getUint32(0, true);
    for (let open = 0; open < count; ) {
      const batch = Math.min(OPEN_CONCURRENCY, count - open);
      const opened = native.load_open(ip, port, batch, count);
      if (opened < open + batch) throw new Error(`connection ${opened + 1} was refused`);
      open = opened;
      await Bun.sleep(OPEN_PAUSE_MS);
    }
  }

  /** Sends and receives for `forMs`; blocks the thread. */
  run(forMs: number, isMeasured: boolean): void {
    native.load_run(forMs * US_PER_MS, Number(isMeasured));
  }

  /** Stops sending and waits for missing responses. */
  end(waitMs: number): void {
    this.missing = native.load_end(waitMs * US_PER_MS);
    for (const us of this.latencyUs.subarray(0, this.responses))
      record(this.latencies, us / US_PER_MS);
    const sent = Number(this.results[SENT]);
    for (const us of this.sendDelayUs.subarray(0, sent)) record(this.sendDelays, us / US_PER_MS);
  }

  /** Number of responses to measured requests. */
  get responses(): number {
    return Number(this.results[RESPONSES]);
  }

  /** Number of requests that could not be sent, had an error status, or have no response after `end`. */
  get failed(): number {
    return Number(this.results[FAILED]) + this.missing;
  }

  /** Descriptions of the first failure and of missing responses. */
  get failures(): string[] {
    const text = this.failureText.toString('utf8', 0, Number(this.results[FAILURE_TEXT])).trim();
    return [
      ...(text ? [text.replace(/\r\n.*\r\n\r\n/s, ' ')] : []),
      ...(this.missing > 0 ? [`${this.missing} requests had no response`] : []),
    ];
  }

  /** The first incorrect response, if any. */
  get incorrect(): string | null {
    if (Number(this.results[INCORRECT]) > 0) return `incorrect responses: ${this.failures[0]}`;
    const other = this.receivedIntervals().find(
      ({ requested, received }) => received.interval !== requested,
    );
    return other ? `requested ${other.requested}, got ${other.received.interval}` : null;
  }

  /** The view counts in the received intervals (the first MiB of them). */
  counts(): { interval: number; value: number }[] {
    return this.receivedIntervals().flatMap(({ received: { interval, events } }) =>
      events
        .filter(({ type }) => type === 'view-count')
        .map(({ data }) => ({ interval, value: (data as ViewCount).value })),
    );
  }

  private receivedIntervals(): { requested: number; received: EventsInterval }[] {
    const text = this.bodies.toString('utf8', 0, Number(this.results[BODIES]));
    const lines = text.split('\n').filter(Boolean);
    return lines.map((line) => ({
      requested: Number(line.slice(0, DIGITS)),
      received: JSON.parse(line.slice(DIGITS)),
    }));
  }
}

// Indexes of the results in polling-viewers.c.
const [RESPONSES, SENT, FAILED, INCORRECT, BODIES, FAILURE_TEXT] = [0, 1, 2, 3, 4, 5];

/** All requests in one buffer, with the offset of each and the end of the last. */
function requestsOf({ address, port, streamId, tokens }: PollingOptions) {
  const feed = `GET /api/v1/events-streams/${streamId}?interval=`;
  const rest = (token: string) =>
    `HTTP/1.1\r\nHost: ${address}:${port}\r\nAuthorization: Bearer ${token}\r\n`;
  const all = [
    ...tokens.map(
      (token) => `POST /api/v1/view-counts/${streamId} ${rest(token)}Content-Length: 0\r\n\r\n`,
    ),
    ...tokens.map((token) => `${feed}${'0'.repeat(DIGITS)} ${rest(token)}\r\n`),
  ];
  const offsets = new Uint32Array(all.length + 1);
  for (const [at, { length }] of all.entries()) offsets[at + 1] = (offsets[at] as number) + length;
  return {
    bytes: Buffer.from(all.join('')),
    heartbeats: offsets.slice(0, tokens.length + 1),
    feeds: offsets.slice(tokens.length),
    digitsAt: feed.length,
  };
}
