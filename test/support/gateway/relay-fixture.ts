import { mkdtempSync, rmSync } from 'node:fs';
import {
  connect,
  createServer,
  type Server as NetServer,
  type Socket as NetSocket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'bun';
import { Relay } from '../../../server/gateway/relay/relay.ts';
import type { ActiveRelay, RelayClient } from '../../../server/gateway/relay/relayed-request.ts';

/** A front that relays everything, for tests of the relay. */
export interface RelayFixture {
  readonly port: number;
  readonly relay: Relay;
  /** Where the origin server must listen. */
  readonly path: string;
  close(): void;
}

export const SECRET = 's3cret';

/** Listens on a port, and passes all on to whatever listens at `path`. */
export function startRelay(): RelayFixture {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-relay-'));
  const path = join(directory, 'inner.sock');
  const relay = new Relay({ path, secret: SECRET });
  const listener = Bun.listen<Passer>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = new Passer(socket, relay);
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drain(),
      close: (socket) => socket.data.relayed?.onClose(),
    },
  });
  return {
    port: listener.port,
    relay,
    path,
    close() {
      relay.close();
      listener.stop(true);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** For what a client still sends to a connection that was ended. */
const LINGER_MS = 500;

/** A connection of that front: it waits for a whole head, and relays. */
class Passer implements RelayClient {
  relayed: ActiveRelay | null = null;
  private partial: Buffer = Buffer.alloc(0);
  private unsent: Buffer = Buffer.alloc(0);
  private isEnding = false;

  constructor(
    private readonly socket: Socket<Passer>,
    private readonly relay: Relay,
  ) {}

  get address(): string {
    return this.socket.remoteAddress;
  }

  received(bytes: Uint8Array): void {
    if (this.isEnding) return;
    if (this.relayed) {
      this.relayed.onData(bytes);
      return;
    }
    this.partial = Buffer.concat([this.partial, bytes]);
    const isOdd = /^[^A-Z]|[^\r]\n/.test(this.partial.toString('latin1'));
    if (!isOdd && !this.partial.includes('\r\n\r\n')) return;
    const whole = this.partial;
    this.partial = Buffer.alloc(0);
    this.relayed = this.relay.start(this, whole);
  }

  send(bytes: Uint8Array): boolean {
    const isFirst = this.unsent.length === 0;
    this.unsent = isFirst ? (bytes as Buffer) : Buffer.concat([this.unsent, bytes]);
    return this.flush();
  }

  drain(): void {
    if (!this.flush()) return;
    if (this.isEnding) this.shutDown();
    else this.relayed?.onDrain();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  completed(rest: Uint8Array): void {
    this.relayed = null;
    if (rest.length > 0) this.received(rest);
  }

  end(): void {
    this.isEnding = true;
    if (this.unsent.length === 0) this.shutDown();
  }

  // To close while the client still sends would take the answer back.
  private shutDown(): void {
    this.socket.shutdown();
    setTimeout(() => this.socket.terminate(), LINGER_MS);
  }

  private flush(): boolean {
    if (this.unsent.length === 0) return true;
    this.unsent = this.unsent.subarray(Math.max(0, this.socket.write(this.unsent)));
    return this.unsent.length === 0;
  }
}

/** What came over one connection to an origin server that a test plays. */
export interface PlayedConnection {
  readonly socket: NetSocket;
  text: string;
  receivedBytes: number;
  isClosed: boolean;
}

/** An origin server that does what a test says, byte for byte. */
export interface PlayedServer {
  readonly connections: PlayedConnection[];
  close(): void;
}

/** @param onData called with each piece of what came, and what came over its connection so far */
export async function playInner(
  path: string,
  onData: (connection: PlayedConnection, bytes: Buffer) => void,
): Promise<PlayedServer> {
  const connections: PlayedConnection[] = [];
  const server: NetServer = createServer((socket) => {
    const connection = { socket, text: '', receivedBytes: 0, isClosed: false };
    connections.push(connection);
    socket.on('error', () => {});
    socket.on('close', () => {
      connection.isClosed = true;
    });
    socket.on('data', (bytes: Buffer) => {
      connection.receivedBytes += bytes.length;
      if (connection.text.length < 100_000) connection.text += bytes.toString('latin1');
      onData(connection, bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    connections,
    close() {
      for (const { socket } of connections) socket.destroy();
      server.close();
    },
  };
}

const PATIENCE_MS = 10_000;
const KEPT_BYTES = 10_000_000;

/** A client that says and hears bytes. */
export class RawClient {
  /** What it heard, as Latin-1; of a great deal the first 10 MB. */
  text = '';
  receivedBytes = 0;
  isClosed = false;
  private readonly socket: NetSocket;
  private readonly checks = new Set<() => void>();

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port });
    this.socket.on('error', () => {});
    const look = () => {
      for (const check of this.checks) check();
    };
    this.socket.on('drain', look);
    this.socket.on('close', () => {
      this.isClosed = true;
      look();
    });
    this.socket.on('data', (bytes: Buffer) => {
      this.receivedBytes += bytes.length;
      if (this.text.length < KEPT_BYTES) this.text += bytes.toString('latin1');
      look();
    });
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** How much of what it sent is still on this side. */
  get unsentBytes(): number {
    return this.socket.writableLength;
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  close(): void {
    this.socket.destroy();
  }

  hears(part: string): Promise<void> {
    return this.when(() => this.text.includes(part), JSON.stringify(part));
  }

  ends(): Promise<void> {
    return this.when(() => this.isClosed, 'the end');
  }

  when(isSo: () => boolean, what: string): Promise<void> {
    if (isSo()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        const heard = JSON.stringify(this.text.slice(-500));
        reject(new Error(`the client waited in vain for ${what} after ${heard}`));
      }, PATIENCE_MS);
      const check = () => {
        if (!isSo()) return;
        clearTimeout(late);
        this.checks.delete(check);
        resolve();
      };
      this.checks.add(check);
    });
  }
}
