import type { TCPSocketListener } from 'bun';
import { Connection, INCOMPLETE, RELAY, type RequestHandler } from './connection.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { listenOn } from './port.ts';
import type { Relay } from './relay.ts';
import { mayBecomeHead } from './request-head.ts';
import { AnswerBytes } from './response-bytes.ts';
import { ViewerFastPath } from './viewer-fast-path.ts';

export interface FrontOptions {
  /** null: every address, IPv6 too where there is any. */
  readonly host: string | null;
  /** 0: a free one. */
  readonly port: number;
  /** Whether other threads listen on it too. */
  readonly reusePort?: boolean;
  /** null: every request is passed on. */
  readonly service: GatewayBackend | null;
  readonly relay: Pick<Relay, 'begin'>;
  readonly corsOrigin: string;
  readonly edgeCache: boolean;
  /** Told what must not happen. */
  readonly onDefect: (error: Error) => void;
}

const TICK_MS = 1_000;
const TICKS_BETWEEN_SWEEPS = 2;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** Answers nothing; but what is no whole head yet cannot be plain, and would cost a connection. */
const passOn: RequestHandler['serve'] = (_, bytes, at) =>
  bytes.indexOf(END_OF_HEAD, at) < 0 && mayBecomeHead(bytes, at) ? INCOMPLETE : RELAY;

/**
 * What listens on the port. It answers heartbeats and reads of the feed straight on their sockets, with
 * bytes that were made for all who ask the same, and passes every other request on to the inner
 * server: on one core a heartbeat takes 6.2 µs here and 10.9 µs there, of which 7.7 are the runtime's
 * HTTP.
 */
export class Front {
  private readonly connections = new Set<Connection>();
  private readonly listener: TCPSocketListener<Connection>;
  private readonly timer: Timer;
  private readonly bytes: AnswerBytes | null;
  private readonly desk: { -readonly [Name in keyof RequestHandler]: RequestHandler[Name] };

  /** @throws Error with a line for the operator when the port cannot be had */
  constructor(private readonly options: FrontOptions) {
    const { service, relay, corsOrigin, edgeCache } = options;
    this.bytes =
      service &&
      new AnswerBytes({
        corsOrigin,
        edgeCache,
        allow: service.feed?.allow ?? '',
      });
    const viewers = service && this.bytes && new ViewerFastPath(service, this.bytes);
    this.desk = {
      tick: 0,
      closedTick: null,
      serve: viewers ? (...asked) => viewers.serve(...asked) : passOn,
      failed: options.onDefect,
      relay: (client, bytes) => relay.begin(client, bytes),
    };
    this.listener = this.listen();
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  /** Where it listens. */
  get port(): number {
    return this.listener.port;
  }

  /** How many connections have an answer that is not complete, but for those that are relayed. */
  pending(): number {
    let pending = 0;
    for (const { isAnswering } of this.connections) if (isAnswering) pending++;
    return pending;
  }

  /**
   * Takes no new connections, ends those that wait for nothing, and each other with its answer.
   */
  close(): void {
    this.listener.stop(false);
    this.desk.closedTick = this.desk.tick;
    for (const connection of this.connections) if (!connection.isBusy) connection.end();
  }

  /** Cuts whatever is left. */
  stop(): void {
    clearInterval(this.timer);
    this.listener.stop(true);
  }

  private tick(): void {
    this.desk.tick++;
    this.bytes?.secondPassed();
    if (this.desk.tick % TICKS_BETWEEN_SWEEPS !== 0 && this.desk.closedTick === null) return;
    for (const connection of this.connections) {
      if (connection.isOverdue(this.desk.tick)) connection.cut();
    }
  }

  private listen(): TCPSocketListener<Connection> {
    const { host, port, reusePort = false, onDefect } = this.options;
    return listenOn<Connection>(host, port, reusePort, {
      open: (socket) => {
        socket.data = new Connection(socket, this.desk);
        this.connections.add(socket.data);
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.writable(),
      // Who ends their half is taken for gone (G-31).
      end: (socket) => void socket.end(),
      close: (socket) => {
        // A socket that was closed before it was open has none.
        if (socket.data === undefined) return;
        this.connections.delete(socket.data);
        socket.data.closed();
      },
      error: (socket, error) => {
        onDefect(error);
        socket.terminate();
      },
    });
  }
}
