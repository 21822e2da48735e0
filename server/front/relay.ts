import type { Socket } from 'bun';

/** The client's side of a relayed request: the connection of the front. */
export interface RelayedClient {
  /** Of the client, as the socket has it. */
  readonly address: string;
  /**
   * Bytes of the answer, which are kept in any case.
   * @returns false when the client takes no more for now; then `Relayed.drained` follows
   */
  send(bytes: Uint8Array): boolean;
  /** Stops reading from the client. */
  pause(): void;
  resume(): void;
  /** The answer is complete, and the connection the front's again. `rest` came after the request; it may be empty. */
  answered(rest: Uint8Array): void;
  /** The connection must end after what was sent. The relay makes no further call. */
  end(): void;
}

/** What the front calls for a connection that is relayed. */
export interface Relayed {
  received(bytes: Uint8Array): void;
  drained(): void;
  closed(): void;
}

export interface RelayOptions {
  /** Where the inner server listens: a unix socket. */
  readonly path: string;
  /** Shown with the address of each client; whoever knows it is believed. */
  readonly secret: string;
}

const CLIENT_HEADER = 'X-Fourbeat-Client';

/** Passes requests to the inner HTTP server, and its answers back. */
export class Relay {
  private readonly exchanges = new Set<Exchange>();

  constructor(private readonly options: RelayOptions) {}

  /**
   * Takes a connection over until the client's `answered` or `end` is called.
   * @param bytes begin with a request; they may be a part of it
   */
  begin(client: RelayedClient, bytes: Uint8Array): Relayed {
    const exchange = new Exchange(client, this.options, () => this.exchanges.delete(exchange));
    this.exchanges.add(exchange);
    exchange.received(bytes);
    return exchange;
  }

  /** How many requests are under way. */
  underWay(): number {
    return this.exchanges.size;
  }

  /** Ends all of them. */
  close(): void {
    for (const exchange of [...this.exchanges]) exchange.end();
  }
}

class Exchange implements Relayed {
  private inner: Socket | null = null;
  private waiting: Uint8Array[] = [];
  private hasHead = false;
  private isOver = false;

  constructor(
    private readonly client: RelayedClient,
    private readonly options: RelayOptions,
    private readonly onOver: () => void,
  ) {}

  received(bytes: Uint8Array): void {
    this.waiting.push(bytes);
    if (this.inner) this.flush();
    if (this.hasHead) return;
    const all = Buffer.concat(this.waiting);
    const lineEnd = all.indexOf('\r\n');
    if (lineEnd < 0 && all.length < 16_384) return;
    this.hasHead = true;
    const { secret } = this.options;
    const header = Buffer.from(`${CLIENT_HEADER}: ${secret} ${this.client.address}\r\n`);
    this.waiting =
      lineEnd < 0 ? [all] : [all.subarray(0, lineEnd + 2), header, all.subarray(lineEnd + 2)];
    this.connect();
  }

  drained(): void {
    this.inner?.resume();
  }

  closed(): void {
    this.over();
  }

  end(): void {
    if (this.isOver) return;
    this.over();
    this.client.end();
  }

  private connect(): void {
    void Bun.connect({
      unix: this.options.path,
      socket: {
        open: (socket) => {
          if (this.isOver) return void socket.terminate();
          this.inner = socket;
          this.flush();
        },
        data: (socket, bytes) => {
          if (!this.isOver && !this.client.send(bytes)) socket.pause();
        },
        drain: () => this.flush(),
        close: () => this.end(),
        connectError: () => this.end(),
        error: () => this.end(),
      },
    }).catch(() => this.end());
  }

  private flush(): void {
    if (!this.inner || this.waiting.length === 0) return;
    const all = this.waiting.length === 1 ? this.waiting[0] : Buffer.concat(this.waiting);
    if (!all) return;
    const taken = Math.max(0, this.inner.write(all));
    const isAll = taken === all.length;
    this.waiting = isAll ? [] : [all.subarray(taken)];
    if (isAll) this.client.resume();
    else this.client.pause();
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.inner?.terminate();
    this.onOver();
  }
}
