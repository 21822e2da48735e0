import { intervalStartMs } from '../../protocol/interval.ts';
import type { LongPollRequests } from './long-poll-requests.ts';
import { openConnections, type PersistentConnection } from './persistent-connections.ts';
import type { ParsedResponse } from './response-reader.ts';

const UNAVAILABLE = 503;
const INTERVAL_START = '{"interval":'.length;
const DIGITS = 10;
const ZERO = 48;
const CACHED_INTERVALS = 16;

/**
 * Viewers with one long poll each, who request the next interval right after a response. A delay is
 * measured from the end of an interval, even if its request was sent later. Each connection has the number of
 * its viewer in `request`.
 */
export class LongPollViewers {
  /** The first incorrect response, if any. */
  incorrect: string | null = null;
  /** Number of 503 responses, after which a viewer repeats the request. */
  refused = 0;
  /** By interval: ms from its end to each response, in order of arrival. */
  readonly delaysMs = new Map<number, number[]>();
  private connections: PersistentConnection[] = [];
  /** The interval that each viewer requests; null when the next one is expected, whatever its number. */
  private readonly awaited: (number | null)[] = [];
  /** The first body of each recent interval; all viewers must get the same bytes. */
  private readonly bodies: { interval: number; body: Buffer }[] = [];

  constructor(private readonly requests: LongPollRequests) {}

  async connect(url: string, viewers: number): Promise<void> {
    this.connections = await openConnections(url, viewers, (connection, response, bytes) => {
      if (response) this.receive(connection, response, bytes);
      else this.incorrect ??= `the connection of viewer ${connection.request} was closed`;
    });
  }

  /** Sends the first request of each viewer. */
  start(): void {
    const first = this.requests.first();
    for (const [viewer, connection] of this.connections.entries()) {
      connection.request = viewer;
      this.send(connection, first);
    }
  }

  private send(connection: PersistentConnection, awaited: number | null): void {
    this.awaited[connection.request] = awaited;
    connection.send(this.requests.bytes(connection.request, awaited));
  }

  private receive(connection: PersistentConnection, response: ParsedResponse, bytes: Buffer): void {
    const awaited = this.awaited[connection.request] ?? null;
    if (response.status === UNAVAILABLE) {
      this.refused++;
      this.send(connection, awaited);
      return;
    }
    const interval = numberAt(bytes, response.bodyStart + INTERVAL_START);
    if (response.status !== 200 || response.end !== bytes.length) {
      const body = bytes.toString('latin1', response.bodyStart);
      this.incorrect ??= `responded ${response.status}: ${body}`;
    } else if (awaited !== null && awaited !== interval) {
      this.incorrect ??= `requested ${awaited}, got ${interval}`;
    } else {
      this.checkBody(interval, response, bytes);
      this.recordDelay(interval);
      this.send(connection, interval + 1);
    }
  }

  private checkBody(interval: number, { bodyStart, end }: ParsedResponse, bytes: Buffer): void {
    const known = this.bodies[interval % CACHED_INTERVALS];
    if (known?.interval !== interval) {
      const body = Buffer.from(bytes.subarray(bodyStart, end));
      this.bodies[interval % CACHED_INTERVALS] = { interval, body };
      const parsed = JSON.parse(body.toString()).interval;
      if (parsed !== interval) this.incorrect ??= `interval ${interval} contains ${parsed}`;
      this.requests.intervalReceived(interval, bytes.subarray(0, bodyStart));
    } else if (bytes.compare(known.body, 0, known.body.length, bodyStart, end) !== 0) {
      this.incorrect ??= `interval ${interval} has another body`;
    }
  }

  private recordDelay(interval: number): void {
    const delayMs = performance.timeOrigin + performance.now() - intervalStartMs(interval + 1);
    const known = this.delaysMs.get(interval);
    if (known) known.push(delayMs);
    else this.delaysMs.set(interval, [delayMs]);
  }
}

function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let n = at; n < at + DIGITS; n++) value = value * 10 + (bytes[n] as number) - ZERO;
  return value;
}
