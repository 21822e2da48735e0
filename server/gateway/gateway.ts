import type { TCPSocketListener } from 'bun';
import { Connection, type RequestHandler } from './connection.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import type { Relay } from './relay/relay.ts';
import { FALLBACK, mayBecomeHead, NEED_MORE } from './request-parser.ts';
import { ResponseBytes } from './response-bytes.ts';
import { listenTcp } from './tcp-listener.ts';
import { ViewerFastPath } from './viewer-fast-path.ts';

export interface GatewayOptions {
  /** null: all addresses, with IPv6 where the machine has it. */
  readonly host: string | null;
  /** 0: any free port. */
  readonly port: number;
  /** Whether other threads listen on the same port. */
  readonly reusePort?: boolean;
  /** null: all requests go to the origin server. */
  readonly backend: GatewayBackend | null;
  readonly relay: Pick<Relay, 'start'>;
  readonly corsOrigin: string;
  /** Whether an edge that verifies tokens may cache sealed intervals. */
  readonly edgeCache: boolean;
  readonly onDefect: (error: Error) => void;
}

/** How often a drain counts the pending responses. */
export const DRAIN_POLL_MS = 10;

const TICK_MS = 1_000;
const TICKS_BETWEEN_SWEEPS = 2;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

// Waits for a complete head all the same: the relay needs one to reuse its connections.
const forwardAll: RequestHandler['handle'] = (_, bytes, at) =>
  bytes.indexOf(END_OF_HEAD, at) < 0 && mayBecomeHead(bytes, at) ? NEED_MORE : FALLBACK;

/**
 * Listens on the port of the service. It responds to heartbeats, feed reads and answers on their sockets,
 * with bytes that are shared by all clients, and relays all other requests to the origin server: on one
 * core a heartbeat takes 6.2 µs here and 10.9 µs there, of which the runtime's HTTP server takes 7.7 µs.
 */
export class Gateway {
  private readonly connections = new Set<Connection>();
  private readonly listener: TCPSocketListener<Connection>;
  private readonly timer: Timer;
  private readonly responses: ResponseBytes | null;
  private readonly handler: { -readonly [Name in keyof RequestHandler]: RequestHandler[Name] };

  /** @throws Error with a message for the operator when it cannot listen on the port */
  constructor(private readonly options: GatewayOptions) {
    const { backend, relay, corsOrigin, edgeCache } = options;
    const allow = backend?.feed?.allow ?? '';
    this.responses = backend && new ResponseBytes({ corsOrigin, edgeCache, allow });
    const viewers = backend && this.responses && new ViewerFastPath(backend, this.responses);
    this.handler = {
      tick: 0,
      drainTick: null,
      handle: viewers
        ? (connection, bytes, at) => viewers.handle(connection, bytes, at)
        : forwardAll,
      onDefect: options.onDefect,
      relay: (client, bytes) => relay.start(client, bytes),
    };
    this.listener = this.listen();
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  get port(): number {
    return this.listener.port;
  }

  /** The number of connections with an incomplete response that is not relayed. */
  pendingResponses(): number {
    let pending = 0;
    for (const { isResponding } of this.connections) if (isResponding) pending++;
    return pending;
  }

  /** Stops listening, ends idle connections now and all others after their response. */
  drain(): void {
    this.listener.stop(false);
    this.handler.drainTick = this.handler.tick;
    for (const connection of this.connections) if (!connection.hasPending) connection.end();
  }

  /** Closes all connections at once. */
  stop(): void {
    clearInterval(this.timer);
    this.listener.stop(true);
  }

  private tick(): void {
    this.handler.tick++;
    this.responses?.refreshDate();
    const { tick, drainTick } = this.handler;
    if (tick % TICKS_BETWEEN_SWEEPS !== 0 && drainTick === null) return;
    for (const connection of this.connections) {
      if (connection.isTimedOut(tick)) connection.terminate();
    }
  }

  private listen(): TCPSocketListener<Connection> {
    const { host, port, reusePort = false, onDefect } = this.options;
    return listenTcp<Connection>(host, port, reusePort, {
      open: (socket) => {
        socket.data = new Connection(socket, this.handler);
        this.connections.add(socket.data);
      },
      data: (socket, bytes) => socket.data.onData(bytes),
      drain: (socket) => socket.data.onDrain(),
      // A client that ends its half of the connection is treated as gone (SPEC G-31).
      end: (socket) => void socket.end(),
      close: (socket) => {
        // Undefined for a socket that closed before it was open.
        if (socket.data === undefined) return;
        this.connections.delete(socket.data);
        socket.data.onClose();
      },
      error: (socket, error) => {
        onDefect(error);
        socket.terminate();
      },
    });
  }
}
