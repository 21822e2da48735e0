import type { EventsInterval } from '../../protocol/feed.ts';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { latencyHistogram, record } from './latency.ts';
import { PUSH_PROTOCOLS, type PushProtocol, type PushProtocolName } from './push-protocols.ts';

/** Viewers to whom the server pushes each interval when it is sealed. */
export interface PushOptions {
  readonly protocol: PushProtocolName;
  readonly hostname: string;
  readonly port: number;
  /** Path of the stream; `INTERVAL` in it stands for the first interval. */
  readonly path: string;
  /** A token for each viewer; a peer that verifies none gets any text. */
  readonly tokens: readonly string[];
}

const OPEN_CONCURRENCY = 200;
const CACHED_INTERVALS = 16;
const MAX_FAILURE_TEXTS = 5;
const POLL_MS = 20;

interface Connection {
  socket: Bun.Socket<Connection> | null;
  isOpen: boolean;
  /** The next expected interval; 0 before the first. */
  next: number;
  rest: Buffer | null;
}

/** A message as it was received first. */
interface KnownMessage {
  readonly interval: number;
  readonly body: string;
  /** Its bytes on the wire, if they were received separately. */
  wireBytes: Buffer | null;
}

/** Checks that each viewer receives each interval once, in order and with the same bytes. */
export class PushViewers {
  readonly latencies = latencyHistogram();
  readonly failures: string[] = [];
  failed = 0;
  private wholeMessages = 0;
  private wholeMessageBytes = 0;
  private readonly protocol: PushProtocol;
  private readonly connections: Connection[] = [];
  private readonly knownMessages: (KnownMessage | undefined)[] = new Array(CACHED_INTERVALS);
  private first = Number.POSITIVE_INFINITY;
  private last = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(private readonly options: PushOptions) {
    const { protocol, hostname, port, path } = options;
    const host = `${hostname}:${port}`;
    const from = String(intervalAt(Date.now()));
    this.protocol = PUSH_PROTOCOLS[protocol]({ host, path: path.replace('INTERVAL', from) });
  }

  /** Size of a message on the wire: the mean over intervals. */
  get messageBytes(): number {
    return this.wholeMessageBytes / Math.max(1, this.wholeMessages);
  }

  /** Opens all connections. @throws Error when one is refused */
  async connect(): Promise<void> {
    const { tokens } = this.options;
    while (this.connections.length < tokens.length) {
      const some = tokens.slice(
        this.connections.length,
        this.connections.length + OPEN_CONCURRENCY,
      );
      await Promise.all(some.map((token) => this.open(token)));
      await this.waitUntil(() => this.connections.every(({ isOpen }) => isOpen));
    }
  }

  /** Sets which intervals are measured. */
  measure(first: number, last: number): void {
    this.first = first;
    this.last = last;
  }

  /** Waits for the last messages. @returns how many are missing */
  async end(waitMs: number): Promise<number> {
    const endMs = performance.now() + waitMs;
    const isDone = () => this.connections.every(({ next }) => next > this.last);
    while (!isDone() && performance.now() < endMs) await Bun.sleep(POLL_MS);
    this.isOver = true;
    for (const { socket } of this.connections) socket?.terminate();
    return this.connections.reduce(
      (sum, { next }) => sum + Math.max(0, this.last + 1 - Math.max(next, this.first)),
      0,
    );
  }

  private async waitUntil(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.failures.length > 0) throw new Error(this.failures.join('; '));
      await Bun.sleep(POLL_MS);
    }
  }

  private async open(token: string): Promise<void> {
    const { hostname, port } = this.options;
    const connection: Connection = { socket: null, isOpen: false, next: 0, rest: null };
    this.connections.push(connection);
    connection.socket = await Bun.connect<Connection>({
      hostname,
      port,
      data: connection,
      socket: {
        binaryType: 'buffer',
        data: (socket, bytes) => this.receive(socket.data, bytes as Buffer),
        close: () => {
          if (!this.isOver) this.fail('a connection was closed');
        },
      },
    });
    connection.socket.write(this.protocol.opening(token));
  }

  private receive(connection: Connection, bytes: Buffer): void {
    const nowMs = performance.timeOrigin + performance.now();
    const known = this.knownMessages[connection.next % CACHED_INTERVALS];
    // The usual case: exactly the bytes that another viewer received.
    if (!connection.rest && known?.wireBytes && known.interval === connection.next) {
      if (bytes.length === known.wireBytes.length && bytes.equals(known.wireBytes)) {
        this.recordArrival(connection, known.interval, nowMs);
        return;
      }
    }
    try {
      this.read(connection, bytes, nowMs);
    } catch (error) {
      this.fail((error as Error).message);
    }
  }

  private read(connection: Connection, bytes: Buffer, nowMs: number): void {
    const all = connection.rest ? Buffer.concat([connection.rest, bytes]) : bytes;
    const { used, bodies, isOpen } = this.protocol.parse(all, (reply) => {
      connection.socket?.write(reply);
    });
    const isWhole = !connection.rest && used === all.length;
    // Copy the rest, since the runtime may reuse the buffer.
    connection.rest = used < all.length ? Buffer.from(all.subarray(used)) : null;
    connection.isOpen ||= isOpen;
    for (const body of bodies) {
      const known = this.knownMessageOf(body);
      if (isWhole && bodies.length === 1 && connection.next > 0) {
        if (!known.wireBytes) {
          known.wireBytes = Buffer.from(all);
          this.wholeMessages += 1;
          this.wholeMessageBytes += all.length;
        }
      }
      if (connection.next > 0 && known.interval !== connection.next) {
        this.fail(`interval ${known.interval} was received instead of ${connection.next}`);
      }
      this.recordArrival(connection, known.interval, nowMs);
    }
  }

  private knownMessageOf(body: string): KnownMessage {
    const interval = Number(/^\{"interval":(\d+)/.exec(body)?.[1]);
    const known = this.knownMessages[interval % CACHED_INTERVALS];
    if (known?.interval === interval) {
      if (known.body !== body) this.fail(`interval ${interval} has another body`);
      return known;
    }
    const parsed = JSON.parse(body) as EventsInterval;
    if (parsed.interval !== interval) this.fail(`interval ${interval} contains ${parsed.interval}`);
    const added = { interval, body, wireBytes: null };
    this.knownMessages[interval % CACHED_INTERVALS] = added;
    return added;
  }

  private recordArrival(connection: Connection, interval: number, nowMs: number): void {
    connection.next = interval + 1;
    if (interval < this.first || interval > this.last) return;
    record(this.latencies, nowMs - intervalStartMs(interval + 1));
  }

  private fail(failure: string): void {
    this.failed++;
    if (this.failures.length < MAX_FAILURE_TEXTS) this.failures.push(failure);
  }
}
