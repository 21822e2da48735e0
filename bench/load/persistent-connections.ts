import type { Socket } from 'bun';
import { readResponse } from './response-reader.ts';

/** Connections that are opened at a time; more would overflow the listen queue. */
const OPEN_CONCURRENCY = 200;

/** A keep-alive connection with one request at a time. */
export interface PersistentConnection {
  /** The index of the current request, for the response callback. */
  request: number;
  /** Sends a whole request. @throws Error when the socket does not accept it at once */
  send(bytes: Uint8Array): void;
}

/** Called with the status of each response; 0 when the connection was closed instead. */
export type OnResponse = (connection: PersistentConnection, status: number) => void;

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
    const answer = readResponse(bytes, 0);
    this.rest = answer ? null : Buffer.from(bytes);
    if (answer) this.complete(answer.status);
  }

  close(): void {
    if (this.isPending) this.complete(0);
  }

  private complete(status: number): void {
    this.isPending = false;
    this.onResponse(this, status);
  }
}
