import type { Socket, SocketHandler } from 'bun';

/** A response. `body` is only valid until the next response on the connection; copy it to keep it. */
export interface HttpResponse {
  readonly status: number;
  readonly body: Uint8Array;
  /** Seconds of `Retry-After`, or 0. */
  readonly retryAfterS: number;
}

/** The connection broke or timed out: whether the request took effect is unknown. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

export interface ConnectionsOptions {
  readonly hostname: string;
  readonly port: number;
}

// The service closes idle connections after 10 s; no request may use one that is being closed.
const IDLE_TIMEOUT_S = 4;
// A long poll takes at most 1.25 s, or 2.15 s when it is refused.
const RESPONSE_TIMEOUT_S = 10;
const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BYTES = new Uint8Array(0);

/** Sends HTTP requests to one service. */
export interface HttpTransport {
  /**
   * Sends a request.
   * @param headers complete lines, each with its CR LF
   * @throws ConnectionLost
   */
  request(
    method: 'GET' | 'POST',
    target: string,
    headers: string,
    body?: string,
  ): Promise<HttpResponse>;
}

interface PendingRequest {
  readonly resolve: (response: HttpResponse) => void;
  readonly reject: (error: ConnectionLost) => void;
}

/**
 * A minimal HTTP/1.1 client with a pool of keep-alive connections, one request at a time on each.
 * Measured with 2,000 viewers (10,000 requests/s, 2,000 open long polls): 24 % of one core, and the
 * last viewer received an interval after 80–110 ms. `fetch` took 55–70 % of the core, and requests
 * beyond its default of 256 concurrent ones took seconds.
 */
export class Connections implements HttpTransport {
  private readonly idle: Connection[] = [];
  private readonly host: string;

  constructor(private readonly options: ConnectionsOptions) {
    const { hostname, port } = options;
    this.host = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  }

  /** The origin of the service, without a trailing slash. */
  get origin(): string {
    return `http://${this.host}`;
  }

  async request(
    method: 'GET' | 'POST',
    target: string,
    headers: string,
    body?: string,
  ): Promise<HttpResponse> {
    const connection = this.idle.pop() ?? (await this.open());
    return connection.send(
      `${method} ${target} HTTP/1.1\r\nHost: ${this.host}\r\n${headers}${bodyOf(method, body)}`,
    );
  }

  private async open(): Promise<Connection> {
    const { hostname, port } = this.options;
    const connection = new Connection(
      () => this.idle.push(connection),
      () => {
        const index = this.idle.indexOf(connection);
        if (index >= 0) this.idle.splice(index, 1);
      },
    );
    try {
      await Bun.connect({ hostname, port, data: connection, socket: HANDLERS });
    } catch (error) {
      throw new ConnectionLost('could not connect to the service', { cause: error });
    }
    return connection;
  }
}

const HANDLERS: SocketHandler<Connection> = {
  open: (socket) => socket.data.opened(socket),
  data: (socket, chunk) => socket.data.received(chunk),
  drain: (socket) => socket.data.drained(),
  timeout: (socket) => socket.terminate(),
  error: (socket) => socket.terminate(),
  close: (socket) => socket.data.closed(),
};

/** One connection with at most one pending request. */
class Connection {
  private socket: Socket<Connection> | null = null;
  private pending: PendingRequest | null = null;
  private unsent: Uint8Array = NO_BYTES;
  private partialResponse: Buffer | null = null;

  constructor(
    private readonly onFree: () => void,
    private readonly onClosed: () => void,
  ) {}

  send(request: string): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      if (!this.socket) return reject(new ConnectionLost('the connection is closed'));
      this.pending = { resolve, reject };
      this.socket.timeout(RESPONSE_TIMEOUT_S);
      this.write(Buffer.from(request));
    });
  }

  opened(socket: Socket<Connection>): void {
    this.socket = socket;
  }

  drained(): void {
    if (this.unsent.length > 0) this.write(this.unsent);
  }

  received(chunk: Buffer): void {
    const bytes = this.partialResponse ? Buffer.concat([this.partialResponse, chunk]) : chunk;
    let parsed: ReturnType<typeof parseResponse>;
    try {
      parsed = parseResponse(bytes);
    } catch {
      this.socket?.terminate();
      return;
    }
    if (!parsed) {
      this.partialResponse = this.partialResponse ? bytes : Buffer.from(chunk);
      return;
    }
    const { pending } = this;
    this.partialResponse = null;
    this.pending = null;
    if (!pending || parsed.closes) this.socket?.end();
    else {
      this.socket?.timeout(IDLE_TIMEOUT_S);
      this.onFree();
    }
    pending?.resolve(parsed.response);
  }

  closed(): void {
    this.socket = null;
    this.onClosed();
    this.pending?.reject(new ConnectionLost('the connection was closed'));
    this.pending = null;
  }

  private write(bytes: Uint8Array): void {
    const sent = Math.max(0, this.socket?.write(bytes) ?? 0);
    this.unsent = sent < bytes.length ? bytes.subarray(sent) : NO_BYTES;
  }
}

function bodyOf(method: 'GET' | 'POST', body: string | undefined): string {
  if (method === 'GET') return '\r\n';
  if (body === undefined) return 'Content-Length: 0\r\n\r\n';
  const length = Buffer.byteLength(body);
  return `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
}

/**
 * Parses the response at the start of the bytes; null while it is incomplete.
 * @throws Error for anything but HTTP/1.1 with a Content-Length, which is all the service sends
 */
export function parseResponse(bytes: Buffer): { response: HttpResponse; closes: boolean } | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (!Number.isInteger(status)) throw new Error('not an HTTP/1.1 response');
  const length = status === 204 || status === 304 ? 0 : lengthOf(head);
  const start = headEnd + HEAD_END.length;
  if (bytes.length < start + length) return null;
  const retryAfterS = Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 0);
  const body = length === 0 ? NO_BYTES : bytes.subarray(start, start + length);
  return { response: { status, body, retryAfterS }, closes: /\r\nconnection: *close/i.test(head) };
}

function lengthOf(head: string): number {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error('a response without Content-Length');
  return Number(length);
}
