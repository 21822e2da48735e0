import type { Socket } from 'bun';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { LongPollRequests } from './long-poll-requests.ts';
import { type ParsedResponse, readResponse } from './response-reader.ts';
import { SealedBodies } from './sealed-bodies.ts';

const OPEN_CONCURRENCY = 200;
const UNAVAILABLE = 503;
const INTERVAL_START = '{"interval":'.length;
const DIGITS = 10;
const ZERO = 48;

interface Viewer {
  readonly number: number;
  socket: Socket<Viewer> | null;
  /** The requested interval; null when the next one is expected, whatever its number. */
  awaited: number | null;
  rest: Buffer | null;
}

/**
 * Viewers with one long poll each, who request the next interval right after a response. Lateness is
 * measured from the end of an interval, even if its request was late.
 */
export class LongPollViewers {
  /** The first incorrect response, if any. */
  incorrect: string | null = null;
  /** Number of 503 responses, after which a viewer repeats the request. */
  refused = 0;
  /** ms from the end of each interval to its response, for each viewer. */
  readonly lateness = new Map<number, number[]>();
  private readonly bodies = new SealedBodies();
  private readonly viewers: Viewer[] = [];
  private isOver = false;

  constructor(
    private readonly url: URL,
    private readonly requests: LongPollRequests,
  ) {}

  /** Opens this many connections. */
  async connect(count: number): Promise<void> {
    while (this.viewers.length < count) {
      const from = this.viewers.length;
      const some = Math.min(OPEN_CONCURRENCY, count - from);
      await Promise.all(Array.from({ length: some }, (_, n) => this.open(from + n)));
    }
  }

  /** Sends the first request of each viewer. */
  start(): void {
    const awaited = this.requests.first();
    for (const viewer of this.viewers) {
      viewer.awaited = awaited;
      this.sendRequest(viewer);
    }
  }

  stop(): void {
    this.isOver = true;
    for (const { socket } of this.viewers) socket?.terminate();
  }

  private async open(number: number): Promise<void> {
    const viewer: Viewer = { number, socket: null, awaited: null, rest: null };
    this.viewers.push(viewer);
    viewer.socket = await Bun.connect<Viewer>({
      hostname: this.url.hostname,
      port: Number(this.url.port),
      data: viewer,
      socket: {
        binaryType: 'buffer',
        data: (socket, bytes) => this.receive(socket.data, bytes as Buffer),
        close: ({ data }) => {
          if (!this.isOver) this.incorrect ??= `the connection of viewer ${data.number} was closed`;
        },
      },
    });
    viewer.socket.setNoDelay(true);
  }

  private sendRequest({ number, socket, awaited }: Viewer): void {
    const bytes = this.requests.bytes(number, awaited);
    if (socket?.write(bytes) !== bytes.length)
      this.incorrect ??= 'the socket did not accept a request at once';
  }

  private receive(viewer: Viewer, bytes: Buffer): void {
    const all = viewer.rest ? Buffer.concat([viewer.rest, bytes]) : bytes;
    const answer = readResponse(all, 0);
    // Copy the rest, since the runtime may reuse the buffer.
    viewer.rest = answer ? null : Buffer.from(all);
    if (!answer) return;
    if (answer.status === UNAVAILABLE) {
      this.refused++;
      this.sendRequest(viewer);
      return;
    }
    const interval = this.checkedInterval(viewer, all, answer);
    if (interval === null) return;
    this.recordLateness(interval);
    viewer.awaited = interval + 1;
    this.sendRequest(viewer);
  }

  /** The interval of a response; null when the response is incorrect. */
  private checkedInterval({ awaited }: Viewer, all: Buffer, answer: ParsedResponse): number | null {
    const interval = numberAt(all, answer.bodyStart + INTERVAL_START);
    if (answer.status !== 200 || answer.end !== all.length) {
      this.incorrect ??= `answered ${answer.status}: ${all.toString('latin1', answer.bodyStart)}`;
    } else if (awaited !== null && awaited !== interval) {
      this.incorrect ??= `requested ${awaited}, got ${interval}`;
    } else {
      this.incorrect ??= this.bodies.check(interval, all, answer);
      if (!this.lateness.has(interval))
        this.requests.intervalReceived(interval, all.subarray(0, answer.bodyStart));
      return interval;
    }
    return null;
  }

  private recordLateness(interval: number): void {
    const lateMs = performance.timeOrigin + performance.now() - intervalStartMs(interval + 1);
    const known = this.lateness.get(interval);
    if (known) known.push(lateMs);
    else this.lateness.set(interval, [lateMs]);
  }
}

function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let n = at; n < at + DIGITS; n++) value = value * 10 + (bytes[n] as number) - ZERO;
  return value;
}
