import { OriginConnectionPool } from './origin-connections.ts';
import { type ActiveRelay, type RelayClient, RelayedRequest } from './relayed-request.ts';

export interface RelayOptions {
  /** The unix socket of the origin server. */
  readonly path: string;
  /** Sent with the address of each client; the origin server trusts whoever knows it. */
  readonly secret: string;
}

const TICK_MS = 1_000;

/**
 * Relays requests to the origin server and its responses back, byte for byte with three exceptions: it
 * adds a header with the address of the client (`X-Fourbeat-Client`), it adds `Connection: close` to a
 * response after which the connection ends, and it drops request trailers.
 *
 * A request whose end all servers find at the same byte uses a connection that serves other requests too.
 * Any other request has a connection of its own, and both connections end after the response: nothing
 * that is smuggled in it can reach another client.
 *
 * A relayed request takes three file descriptors: the runtime's HTTP server cannot be given an open
 * connection, so both ends of the connection to the origin server are in this process.
 *
 * On one core (Xeon, 2.1 GHz) a small request takes 19 µs of CPU time with the relay and 7.4 µs without;
 * 100 MB take 145 ms with it and 95 ms without, in either direction.
 */
export class Relay {
  private readonly connections: OriginConnectionPool;
  private readonly requests = new Set<RelayedRequest>();
  private readonly timer: Timer;
  private readonly context;

  constructor({ path, secret }: RelayOptions) {
    this.connections = new OriginConnectionPool(path);
    this.context = {
      connections: this.connections,
      secret,
      onFinished: (request: RelayedRequest) => this.requests.delete(request),
    };
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  /**
   * Takes over a connection until it calls `completed` or `end` of the client.
   * @param bytes begin with a request with a complete head, or with bytes that cannot become one
   */
  start(client: RelayClient, bytes: Uint8Array): ActiveRelay {
    const buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const request = new RelayedRequest(client, this.context, buffer);
    this.requests.add(request);
    request.start(buffer);
    return request;
  }

  /** The number of requests without a complete response; tunnels do not count. */
  pendingRequests(): number {
    let count = 0;
    for (const { isTunnel, isResponseComplete } of this.requests) {
      if (!isTunnel && !isResponseComplete) count++;
    }
    return count;
  }

  /** Ends requests that time out. The relay calls it once a second. */
  tick(): void {
    this.connections.tick();
    for (const request of [...this.requests]) request.tick();
  }

  /** Ends all requests and connections. */
  close(): void {
    clearInterval(this.timer);
    for (const request of [...this.requests]) request.end();
    this.connections.close();
  }
}
