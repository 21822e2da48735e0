import type { Socket } from 'bun';
import { Connection, type ConnectionContext } from '../../../server/gateway/connection.ts';
import type { GatewayBackend } from '../../../server/gateway/gateway-backend.ts';
import type { ActiveRelay, RelayClient } from '../../../server/gateway/relay/relay.ts';
import { ResponseBytes } from '../../../server/gateway/response-bytes.ts';
import { UnsentResponses } from '../../../server/gateway/unsent-responses.ts';
import { ViewerFastPath } from '../../../server/gateway/viewer-fast-path.ts';
import { createOpenFiles } from '../../../server/platform/open-files.ts';

export interface SimulatedGatewayOptions {
  readonly backend: GatewayBackend;
  readonly corsOrigin: string;
  /** Handles the requests that the gateway relays. */
  readonly origin: (url: string, init: RequestInit) => Promise<Response>;
  readonly onDefect: (message: string) => void;
}

interface Call {
  readonly url: string;
  readonly init: RequestInit;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

const CR_LF = '\r\n';
const END_OF_HEAD = CR_LF + CR_LF;
const NO_BYTES = new Uint8Array(0);

/**
 * The gateway of a node without its listener: connections, parser and fast paths are the real ones, on
 * sockets that exist in memory. What the gateway relays goes to the origin server as a request, without
 * the bytes of the relay.
 */
export class SimulatedGateway {
  private readonly context: Omit<ConnectionContext, 'relay'>;
  /** Connections that wait for a request: the next one may have the token of another viewer. */
  private readonly idle: ClientSocket[] = [];

  constructor(private readonly options: SimulatedGatewayOptions) {
    const { backend, corsOrigin, onDefect } = options;
    const allow = backend.feed?.allow ?? '';
    this.context = {
      ...{ tick: 0, drainTick: null, openFiles: createOpenFiles(1_000) },
      unsent: new UnsentResponses(),
      requests: new ViewerFastPath(
        backend,
        new ResponseBytes({ corsOrigin, edgeCache: false, allow }),
      ),
      onDefect: ({ stack }) => onDefect(`${stack}`),
    };
  }

  /** @throws Error when the gateway closes the connection before its response is complete */
  fetch(url: string, init: RequestInit): Promise<Response> {
    const { context, idle } = this;
    const socket =
      idle.pop() ??
      new ClientSocket(context, this.options.origin, (waiting) => void idle.push(waiting));
    return socket.fetch(url, init);
  }
}

/** A connection of a client, as the gateway sees its socket. */
class ClientSocket {
  readonly remoteAddress = '192.0.2.1';
  private readonly connection: Connection;
  private call: Call | null = null;
  private stream: ReadableStreamDefaultController<Uint8Array> | null = null;

  /** @param onIdle called when a response is complete */
  constructor(
    context: Omit<ConnectionContext, 'relay'>,
    private readonly origin: SimulatedGatewayOptions['origin'],
    private readonly onIdle: (socket: ClientSocket) => void,
  ) {
    const relay = { start: (client: RelayClient) => this.relay(client) };
    this.connection = new Connection(this as unknown as Socket<Connection>, { ...context, relay });
  }

  fetch(url: string, init: RequestInit): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.call = { url, init, resolve, reject };
      this.connection.onData(requestBytes(url, init));
    });
  }

  /** Receives bytes of a response: a whole one, or the head or whole chunks of an event stream. */
  write(bytes: Uint8Array): number {
    const text = Buffer.from(bytes).toString();
    if (this.stream) this.receiveChunks(text);
    else this.receiveHead(text);
    return bytes.length;
  }

  shutdown(): void {
    this.terminate();
  }

  terminate(): void {
    const error = new TypeError('The gateway closed the connection.');
    this.call?.reject(error);
    this.stream?.error(error);
    this.call = null;
    this.stream = null;
  }

  pause(): void {}

  resume(): void {}

  private relay(client: RelayClient): ActiveRelay {
    const { url, init } = this.call as Call;
    void this.origin(url, init).then((response) => {
      this.respond(response);
      client.completed(NO_BYTES);
      this.onIdle(this);
    });
    return { onData: () => {}, onDrain: () => {}, onClose: () => {}, restBytes: 0 };
  }

  private receiveHead(text: string): void {
    const bodyAt = text.indexOf(END_OF_HEAD) + END_OF_HEAD.length;
    const [statusLine = '', ...lines] = text.slice(0, bodyAt - END_OF_HEAD.length).split(CR_LF);
    const status = Number(statusLine.split(' ')[1]);
    const headers = new Headers(lines.map((line) => line.split(': ') as [string, string]));
    if (headers.get('transfer-encoding') !== 'chunked') {
      this.respond(new Response(status === 204 ? null : text.slice(bodyAt), { status, headers }));
      this.onIdle(this);
      return;
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.stream = controller;
      },
      cancel: () => {
        this.stream = null;
        this.connection.onClose();
      },
    });
    this.respond(new Response(body, { status, headers }));
    this.receiveChunks(text.slice(bodyAt));
  }

  private receiveChunks(text: string): void {
    let rest = Buffer.from(text);
    while (rest.length > 0) {
      const dataAt = rest.indexOf(CR_LF) + CR_LF.length;
      const length = Number.parseInt(rest.toString('latin1', 0, dataAt), 16);
      if (length === 0) {
        this.stream?.close();
        this.stream = null;
        this.onIdle(this);
        return;
      }
      this.stream?.enqueue(rest.subarray(dataAt, dataAt + length));
      rest = rest.subarray(dataAt + length + CR_LF.length);
    }
  }

  private respond(response: Response): void {
    this.call?.resolve(response);
    this.call = null;
  }
}

function requestBytes(url: string, { method = 'GET', headers, body }: RequestInit): Buffer {
  const { host, pathname, search } = new URL(url);
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of Object.entries(headers ?? {})) lines.push(`${name}: ${value}`);
  if (typeof body === 'string') lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(lines.join(CR_LF) + END_OF_HEAD + (body ?? ''));
}
