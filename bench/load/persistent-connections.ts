import type { Socket } from 'bun';
import { type ParsedResponse, readResponse } from './response-reader.ts';

/** Connections that are opened at a time; more would overflow the listen queue. */
const OPEN_CONCURRENCY = 200;

/** A keep-alive connection with one request at a time. */
export interface PersistentConnection {
  /** A number of the caller, for its response callback: of the current request, or of the viewer. */
  request: number;
  /** Sends a whole request. @throws Error when the socket does not accept it at once */
  send(bytes: Uint8Array): void;
}

/** Called with each response and the bytes that contain it; without them when the connection was closed. */
type OnResponse = (
  connection: PersistentConnection,
  response: ParsedResponse | null,
  bytes: Buffer,
) => void;

/** Opens this many connections. @throws Error when one is refused */
export async function openConnections(
  url: string,
  count: number,
  onResponse: OnResponse,
): Promise<PersistentConnection[]> {
  const { hostname, port } = new URL(url);
  const all: PersistentConnection[] = [];
  while (all.length < count) {
    const some = Math.min(OPEN_CONCURRENCY, count - all.length);
    const opening = Array.from({ length: some }, () => open(hostname, Number(port), onResponse));
    all.push(...(await Promise.all(opening)));
  }
  return all;
}

async function open(
  hostname: string,
  port: number,
  onResponse: OnResponse,
): Promise<PersistentConnection> {
  const connection = new Connection(onResponse);
  const socket = await Bun.connect<Connection>({
    hostname,
    port,
    data: connection,
    socket: {
      data: ({ data }, chunk) => data.receive(chunk),
      close: ({ data }) => data.close(),
      error: ({ data }) => data.close(),
    },
  });
  socket.setNoDelay(true);
  connection.socket = socket;
  return connection;
}

const NO_BYTES = Buffer.alloc(0);

class Connection implements PersistentConnection {
  request = -1;
  socket: Socket<Connection> | null = null;
  private isPending = false;
  private rest: Buffer | null = null;

  constructor(private readonly onResponse: OnResponse) {}

  send(bytes: Uint8Array): void {
    this.isPending = true;
    if (this.socket?.write(bytes) !== bytes.length)
      throw new Error('the socket did not accept a request');
  }

  receive(chunk: Buffer): void {
    const bytes = this.rest ? Buffer.concat([this.rest, chunk]) : chunk;
    const response = readResponse(bytes);
    // Copy the rest, since the runtime may reuse the buffer.
    this.rest = response ? null : Buffer.from(bytes);
    if (response) this.complete(response, bytes);
  }

  close(): void {
    if (this.isPending) this.complete(null, NO_BYTES);
  }

  private complete(response: ParsedResponse | null, bytes: Buffer): void {
    this.isPending = false;
    this.onResponse(this, response, bytes);
  }
}
