import type { Socket } from 'bun';
import { readAnswer } from './answer-reader.ts';

/** So many are opened at a time: more would overflow the queue of who listens. */
const OPENING_MAX = 200;

/** A connection that stays, with one request at a time. */
export interface KeptConnection {
  /** The number of its request, for who is told of the answer. */
  request: number;
  /** Sends a whole request. @throws Error when it is not taken at once */
  send(bytes: Uint8Array): void;
}

/** Told of each answer: its status, or 0 when the connection was closed instead. */
export type OnAnswer = (connection: KeptConnection, status: number) => void;

/** Opens so many connections to a service. @throws Error when one is refused */
export async function openConnections(
  url: string,
  count: number,
  onAnswer: OnAnswer,
): Promise<KeptConnection[]> {
  const { hostname, port } = new URL(url);
  const all: KeptConnection[] = [];
  while (all.length < count) {
    const some = Math.min(OPENING_MAX, count - all.length);
    const opening = Array.from({ length: some }, () => open(hostname, Number(port), onAnswer));
    all.push(...(await Promise.all(opening)));
  }
  return all;
}

async function open(hostname: string, port: number, onAnswer: OnAnswer): Promise<KeptConnection> {
  const connection = new Connection(onAnswer);
  const socket = await Bun.connect<Connection>({
    hostname,
    port,
    data: connection,
    socket: {
      data: ({ data }, chunk) => data.received(chunk),
      close: ({ data }) => data.closed(),
      error: ({ data }) => data.closed(),
    },
  });
  socket.setNoDelay(true);
  connection.socket = socket;
  return connection;
}

class Connection implements KeptConnection {
  request = -1;
  socket: Socket<Connection> | null = null;
  private waits = false;
  private before: Buffer | null = null;

  constructor(private readonly onAnswer: OnAnswer) {}

  send(bytes: Uint8Array): void {
    this.waits = true;
    if (this.socket?.write(bytes) !== bytes.length) throw new Error('a request was not taken');
  }

  received(chunk: Buffer): void {
    const bytes = this.before ? Buffer.concat([this.before, chunk]) : chunk;
    const answer = readAnswer(bytes, 0);
    this.before = answer ? null : Buffer.from(bytes);
    if (answer) this.tell(answer.status);
  }

  closed(): void {
    if (this.waits) this.tell(0);
  }

  private tell(status: number): void {
    this.waits = false;
    this.onAnswer(this, status);
  }
}
