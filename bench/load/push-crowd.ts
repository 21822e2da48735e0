import type { EventsInterval } from '../../protocol/feed.ts';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { latencyHistogram, record } from './latency.ts';
import { PUSH_PROTOCOLS, type PushProtocol, type PushProtocolName } from './push-protocols.ts';

/** Viewers to whom each interval is sent as soon as it is over. */
export interface PushCrowdOptions {
  readonly protocol: PushProtocolName;
  readonly hostname: string;
  readonly port: number;
  /** Where it is opened; `INTERVAL` in it is the first that is wanted. */
  readonly path: string;
  /** One for each viewer; empty for a peer that looks at none. */
  readonly tokens: readonly string[];
}

const CONNECTING_MAX = 200;
const KEPT = 16;
const TROUBLES_TOLD = 5;
const LOOK_MS = 20;

interface Connection {
  socket: Bun.Socket<Connection> | null;
  isOpen: boolean;
  /** The interval that must come next; 0 before the first. */
  next: number;
  rest: Buffer | null;
}

/** A message as it came first. */
interface Known {
  readonly interval: number;
  readonly body: string;
  /** All its bytes, when they came by themselves. */
  wire: Buffer | null;
}

/** Checks that each viewer gets each interval once, in order, and the same as all others. */
export class PushCrowd {
  readonly latencies = latencyHistogram();
  readonly troubles: string[] = [];
  failed = 0;
  private wires = 0;
  private wireBytes = 0;
  private readonly protocol: PushProtocol;
  private readonly connections: Connection[] = [];
  private readonly known: (Known | undefined)[] = new Array(KEPT);
  private first = Number.POSITIVE_INFINITY;
  private last = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(private readonly options: PushCrowdOptions) {
    const { protocol, hostname, port, path } = options;
    const host = `${hostname}:${port}`;
    const from = String(intervalAt(Date.now()));
    this.protocol = PUSH_PROTOCOLS[protocol]({ host, path: path.replace('INTERVAL', from) });
  }

  /** Of a message as it came by itself, with all that is around it: the mean over intervals. */
  get messageBytes(): number {
    return this.wireBytes / Math.max(1, this.wires);
  }

  /** Opens all of them. @throws Error when one is refused */
  async connect(): Promise<void> {
    const { tokens } = this.options;
    while (this.connections.length < tokens.length) {
      const some = tokens.slice(this.connections.length, this.connections.length + CONNECTING_MAX);
      await Promise.all(some.map((token) => this.open(token)));
      await this.until(() => this.connections.every(({ isOpen }) => isOpen));
    }
  }

  /** These intervals are measured. */
  measure(first: number, last: number): void {
    this.first = first;
    this.last = last;
  }

  /** @returns how many messages never came */
  async end(waitMs: number): Promise<number> {
    const endMs = performance.now() + waitMs;
    const isDone = () => this.connections.every(({ next }) => next > this.last);
    while (!isDone() && performance.now() < endMs) await Bun.sleep(LOOK_MS);
    this.isOver = true;
    for (const { socket } of this.connections) socket?.terminate();
    return this.connections.reduce(
      (sum, { next }) => sum + Math.max(0, this.last + 1 - Math.max(next, this.first)),
      0,
    );
  }

  private async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.troubles.length > 0) throw new Error(this.troubles.join('; '));
      await Bun.sleep(LOOK_MS);
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
        data: (socket, bytes) => this.received(socket.data, bytes as Buffer),
        close: () => {
          if (!this.isOver) this.fail('a connection was closed');
        },
      },
    });
    connection.socket.write(this.protocol.opening(token));
  }

  private received(connection: Connection, bytes: Buffer): void {
    const nowMs = performance.timeOrigin + performance.now();
    const known = this.known[connection.next % KEPT];
    // Nearly always: the bytes that others got, and nothing else.
    if (!connection.rest && known?.wire && known.interval === connection.next) {
      if (bytes.length === known.wire.length && bytes.equals(known.wire)) {
        this.count(connection, known.interval, nowMs);
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
    const { used, bodies, isOpen } = this.protocol.take(all, (reply) => {
      connection.socket?.write(reply);
    });
    const isWhole = !connection.rest && used === all.length;
    // What is kept is a copy: the runtime may use the memory again.
    connection.rest = used < all.length ? Buffer.from(all.subarray(used)) : null;
    connection.isOpen ||= isOpen;
    for (const body of bodies) {
      const known = this.knownOf(body);
      if (isWhole && bodies.length === 1 && connection.next > 0) {
        if (!known.wire) {
          known.wire = Buffer.from(all);
          this.wires += 1;
          this.wireBytes += all.length;
        }
      }
      if (connection.next > 0 && known.interval !== connection.next) {
        this.fail(`interval ${known.interval} came where ${connection.next} should`);
      }
      this.count(connection, known.interval, nowMs);
    }
  }

  private knownOf(body: string): Known {
    const interval = Number(/^\{"interval":(\d+)/.exec(body)?.[1]);
    const known = this.known[interval % KEPT];
    if (known?.interval === interval) {
      if (known.body !== body) this.fail(`interval ${interval} has another body`);
      return known;
    }
    const told = JSON.parse(body) as EventsInterval;
    if (told.interval !== interval) this.fail(`interval ${interval} tells ${told.interval}`);
    const added = { interval, body, wire: null };
    this.known[interval % KEPT] = added;
    return added;
  }

  private count(connection: Connection, interval: number, nowMs: number): void {
    connection.next = interval + 1;
    if (interval < this.first || interval > this.last) return;
    record(this.latencies, nowMs - intervalStartMs(interval + 1));
  }

  private fail(trouble: string): void {
    this.failed++;
    if (this.troubles.length < TROUBLES_TOLD) this.troubles.push(trouble);
  }
}
