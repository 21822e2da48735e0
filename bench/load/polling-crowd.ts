import type { Histogram } from 'hdr-histogram-js';
import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import { readAnswer } from './answer-reader.ts';
import { latencyHistogram, record } from './latency.ts';
import { FEED, HEARTBEAT, type Kind, type Schedule, scheduleOf } from './schedule.ts';
import { SealedBodies } from './sealed-bodies.ts';

/** Viewers who poll: each sends a heartbeat and reads four sealed intervals a second, on time. */
export interface CrowdOptions {
  readonly hostname: string;
  readonly port: number;
  readonly streamId: string;
  /** One for each viewer. */
  readonly tokens: readonly string[];
  /** At most so many sockets; beyond them viewers share, as behind a proxy. */
  readonly connectionsMax: number;
  /** In which each viewer sends its five requests; a second, but for what does not depend on speed. */
  readonly roundMs: number;
}

/** How long after its end an interval is asked for, besides the viewer's phase: it is sealed by then. */
const SEALED_AFTER_MS = 50;
// A viewer with so much outstanding gets nothing more: the server is hopelessly behind.
const WAITING_MAX = 20;
const CONNECTING_MAX = 200;
const BEGIN_MS = 100;
const DIGITS = 10;
const TROUBLES_TOLD = 5;
// Late, it goes on with what came meanwhile between two portions.
const SENT_AT_ONCE_MAX = 2_000;

interface Connection {
  socket: Bun.Socket<Connection> | null;
  /** What was asked and is not answered, in order; only the first was sent. */
  readonly asked: Asked[];
  rest: Buffer | null;
}

interface Asked {
  readonly viewer: number;
  readonly kind: Kind;
  readonly atMs: number;
  interval: number;
}

/** An open loop: what is late is measured from the moment when it was meant to be sent. */
export class PollingCrowd {
  readonly latencies: Histogram = latencyHistogram();
  readonly lateness: Histogram = latencyHistogram();
  readonly bodies = new SealedBodies();
  readonly troubles: string[] = [];
  /** An answer that must never be, if there was one. */
  wrong: string | null = null;
  answered = 0;
  failed = 0;
  private readonly schedule: Schedule;
  private readonly connections: Connection[] = [];
  private readonly requests: { [kind in Kind]: Buffer[] };
  private readonly digitsAt: number;
  private digits = Buffer.alloc(DIGITS);
  private digitsOf = -1;
  private timer: Timer | null = null;
  private roundAtMs = 0;
  private isOver = false;
  private next = 0;
  private measuringFromMs = Number.POSITIVE_INFINITY;
  private measuringToMs = Number.POSITIVE_INFINITY;

  constructor(private readonly options: CrowdOptions) {
    const { streamId, tokens, hostname, port } = options;
    this.schedule = scheduleOf(tokens.length, options.roundMs);
    const feed = `GET /api/v1/events-streams/${streamId}?interval=`;
    this.digitsAt = feed.length;
    const rest = (token: string) =>
      `HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n`;
    this.requests = {
      [HEARTBEAT]: tokens.map((token) =>
        Buffer.from(`POST /api/v1/view-counts/${streamId} ${rest(token)}Content-Length: 0\r\n\r\n`),
      ),
      [FEED]: tokens.map((token) => Buffer.from(`${feed}${'0'.repeat(DIGITS)} ${rest(token)}\r\n`)),
    };
  }

  /** Opens the sockets, not all of them at once. */
  async connect(): Promise<void> {
    const count = Math.min(this.options.tokens.length, this.options.connectionsMax);
    while (this.connections.length < count) {
      const some = Math.min(CONNECTING_MAX, count - this.connections.length);
      await Promise.all(Array.from({ length: some }, () => this.open()));
    }
  }

  /** Begins to send, each viewer at the moments of its own. */
  begin(): void {
    this.roundAtMs = performance.now() + BEGIN_MS;
    this.timer = setInterval(() => this.sendDue(), 1);
  }

  /** What is meant to be sent from now on until then is measured. */
  measure(fromMs: number, toMs: number): void {
    this.measuringFromMs = fromMs;
    this.measuringToMs = toMs;
  }

  /** No more is sent. @returns how many never got their answer */
  async end(waitMs: number): Promise<number> {
    if (this.timer) clearInterval(this.timer);
    const endMs = performance.now() + waitMs;
    while (this.waiting() > 0 && performance.now() < endMs) await Bun.sleep(10);
    const missing = this.waiting();
    this.isOver = true;
    for (const { socket } of this.connections) socket?.terminate();
    return missing;
  }

  private waiting(): number {
    const isMeasured = ({ atMs }: Asked) => this.isMeasured(atMs);
    return this.connections.reduce((sum, { asked }) => sum + asked.filter(isMeasured).length, 0);
  }

  private async open(): Promise<void> {
    const connection: Connection = { socket: null, asked: [], rest: null };
    const { hostname, port } = this.options;
    this.connections.push(connection);
    connection.socket = await Bun.connect<Connection>({
      hostname,
      port,
      data: connection,
      socket: {
        binaryType: 'buffer',
        data: (socket, bytes) => this.received(socket.data, bytes as Buffer),
        close: (socket) => {
          if (!this.isOver) this.fail('a connection was closed');
          socket.data.socket = null;
        },
      },
    });
  }

  private sendDue(): void {
    const nowMs = performance.now();
    const { atMs, viewer, kind, length } = this.schedule;
    for (let sent = 0; sent < SENT_AT_ONCE_MAX; sent++) {
      const dueMs = this.roundAtMs + (atMs[this.next] as number);
      if (dueMs > nowMs) return;
      if (this.isMeasured(dueMs)) record(this.lateness, nowMs - dueMs);
      this.ask(viewer[this.next] as number, kind[this.next] as Kind, dueMs);
      if (++this.next < length) continue;
      this.next = 0;
      this.roundAtMs += this.options.roundMs;
    }
  }

  private ask(viewer: number, kind: Kind, atMs: number): void {
    const connection = this.connections[viewer % this.connections.length] as Connection;
    const { asked } = connection;
    if (asked.length >= WAITING_MAX) {
      this.fail(`a viewer waits for ${WAITING_MAX} answers`);
      return;
    }
    asked.push({ viewer, kind, atMs, interval: 0 });
    if (asked.length === 1) this.send(connection);
  }

  private send({ socket, asked }: Connection): void {
    const first = asked[0];
    if (!first || !socket) return;
    const request = this.requests[first.kind][first.viewer] as Buffer;
    if (first.kind === FEED) {
      first.interval = newestSealed(first.atMs);
      if (first.interval !== this.digitsOf) {
        this.digits = Buffer.from(String(first.interval));
        this.digitsOf = first.interval;
      }
      this.digits.copy(request, this.digitsAt);
    }
    socket.write(request);
  }

  private received(connection: Connection, bytes: Buffer): void {
    const all = connection.rest ? Buffer.concat([connection.rest, bytes]) : bytes;
    const answer = readAnswer(all, 0);
    // What is kept is a copy: the runtime may use the memory again.
    connection.rest = answer ? null : Buffer.from(all);
    if (!answer) return;
    const asked = connection.asked.shift();
    if (!asked || answer.endAt !== all.length) {
      this.fail('an answer that nobody waited for');
      return;
    }
    if (this.isMeasured(asked.atMs)) {
      this.answered++;
      record(this.latencies, performance.now() - asked.atMs);
    }
    if (answer.status !== (asked.kind === FEED ? 200 : 204)) {
      this.fail(`${answer.status} ${all.subarray(answer.bodyAt, answer.bodyAt + 200)}`);
    } else if (asked.kind === FEED) {
      this.wrong ??= this.bodies.check(asked.interval, all, answer);
    }
    if (connection.asked.length > 0) this.send(connection);
  }

  private isMeasured(atMs: number): boolean {
    return atMs >= this.measuringFromMs && atMs < this.measuringToMs;
  }

  private fail(trouble: string): void {
    this.failed++;
    if (this.troubles.length < TROUBLES_TOLD) this.troubles.push(trouble);
  }
}

/** The interval that a viewer takes at this moment of the monotonic clock. */
function newestSealed(atMs: number): number {
  const unixMs = performance.timeOrigin + atMs;
  return intervalAt(unixMs - SEALED_AFTER_MS - INTERVAL_MS);
}
