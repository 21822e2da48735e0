import { InnerConnections } from './origin-connections.ts';
import type { Relayed, RelayedClient } from './relayed.ts';
import { RelayedRequest } from './relayed-request.ts';

export interface RelayOptions {
  /** Where the origin server listens: a unix socket. */
  readonly path: string;
  /** Shown with the address of each client; whoever knows it is believed. */
  readonly secret: string;
}

const TICK_MS = 1_000;

/**
 * Passes requests to the inner HTTP server, and its answers back, byte for byte but for two headers:
 * the origin server is told who asks (`X-Fourbeat-Client`), and a client whose connection ends that
 * it does (`Connection: close`). Trailers of requests are left out.
 *
 * A plain request, of which every server must say alike where it ends, goes over a connection that
 * serves others too. Any other has one of its own, and both connections end after the answer: what
 * was hidden in it can reach nobody else's.
 *
 * A request takes three files of the process while it is under way: the runtime's HTTP server can be
 * given no connection, so both ends of the inner one are ours.
 *
 * On one core (Xeon, 2.1 GHz) a small request takes 19 µs of processor time through it and 7.4 µs
 * without; 100 MB take 145 ms through it and 95 ms without, up or down.
 */
export class Relay {
  private readonly connections: InnerConnections;
  private readonly requests = new Set<RelayedRequest>();
  private readonly timer: Timer;
  private readonly shared;

  constructor({ path, secret }: RelayOptions) {
    this.connections = new InnerConnections(path);
    this.shared = {
      connections: this.connections,
      secret,
      onOver: (request: RelayedRequest) => this.requests.delete(request),
    };
    this.timer = setInterval(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  /**
   * Takes a connection over until the client's `answered` or `end` is called.
   * @param bytes begin with a request whose head is complete; or they can be no request at all
   */
  begin(client: RelayedClient, bytes: Uint8Array): Relayed {
    const buffer = Buffer.isBuffer(bytes)
      ? bytes
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const request = new RelayedRequest(client, this.shared, buffer);
    this.requests.add(request);
    request.begin(buffer);
    return request;
  }

  /** How many requests have no answer yet; a connection that became one for another protocol is none. */
  underWay(): number {
    let count = 0;
    for (const { isTunnel, isAnswered } of this.requests) if (!isTunnel && !isAnswered) count++;
    return count;
  }

  /** A second has passed: ends what waits for too long. The relay calls it by itself. */
  tick(): void {
    this.connections.tick();
    for (const request of [...this.requests]) request.tick();
  }

  /** Ends all that is under way. */
  close(): void {
    clearInterval(this.timer);
    for (const request of [...this.requests]) request.end();
    this.connections.close();
  }
}
