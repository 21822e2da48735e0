import { afterEach, beforeEach } from 'bun:test';
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
import { type ActiveRelay, Relay, type RelayClient } from '../../../server/gateway/relay/relay.ts';
import { HEAD_BYTES_MAX } from '../../../server/gateway/request-head.ts';
import { createOpenFiles } from '../../../server/platform/open-files.ts';

/** A minimal gateway that relays all requests. */
export interface RelayFixture {
  readonly port: number;
  readonly relay: Relay;
  /** The unix socket on which the test must start an origin server. */
  readonly path: string;
  close(): void;
}

export const SECRET = 's3cret';

/** Listens on a port, and relays all requests to the origin server at `path`. */
export function startRelay(): RelayFixture {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-relay-'));
  const path = join(directory, 'inner.sock');
  const openFiles = createOpenFiles();
  const relay = new Relay({ path, secret: SECRET, openFiles });
  const listener = Bun.listen<RelayingConnection>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = new RelayingConnection(socket, relay);
      },
      data: (socket, bytes) => socket.data.onData(bytes),
      drain: (socket) => socket.data.onDrain(),
      close: (socket) => socket.data.activeRelay?.onClose(),
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

/** How long a client may go on sending after the end of its connection. */
const LINGER_MS = 500;

/** A client's connection: it waits for a complete head, and relays the request. */
class RelayingConnection implements RelayClient {
  activeRelay: ActiveRelay | null = null;
  private partial: Buffer = Buffer.alloc(0);
  private unsent: Buffer = Buffer.alloc(0);
  private isEnding = false;

  constructor(
    private readonly socket: Socket<RelayingConnection>,
    private readonly relay: Relay,
  ) {}

  get address(): string {
    return this.socket.remoteAddress;
  }

  onData(bytes: Uint8Array): void {
    if (this.isEnding) return;
    if (this.activeRelay) {
      this.activeRelay.onData(bytes);
      return;
    }
    this.partial = Buffer.concat([this.partial, bytes]);
    const isInvalid =
      this.partial.length > HEAD_BYTES_MAX ||
      /^[^A-Z]|[^\r]\n/.test(this.partial.toString('latin1'));
    if (!isInvalid && !this.partial.includes('\r\n\r\n')) return;
    const head = this.partial;
    this.partial = Buffer.alloc(0);
    this.activeRelay = this.relay.start(this, head);
  }

  send(bytes: Uint8Array): boolean {
    const isFirst = this.unsent.length === 0;
    this.unsent = isFirst ? (bytes as Buffer) : Buffer.concat([this.unsent, bytes]);
    return this.flush();
  }

  onDrain(): void {
    if (!this.flush()) return;
    if (this.isEnding) this.shutDown();
    else this.activeRelay?.onDrain();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  completed(surplus: Uint8Array): void {
    this.activeRelay = null;
    if (surplus.length > 0) this.onData(surplus);
  }

  end(): void {
    this.isEnding = true;
    if (this.unsent.length === 0) this.shutDown();
  }

  // A full close while the client still sends would reset the connection and drop the response.
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

/** One connection to the fake origin server, and what it received. */
export interface FakeOriginConnection {
  readonly socket: NetSocket;
  text: string;
  receivedBytes: number;
  isClosed: boolean;
}

/** An origin server whose test writes its responses byte for byte. */
export interface FakeOrigin {
  readonly connections: FakeOriginConnection[];
  close(): void;
}

/** @param onData called with each piece that a connection receives */
export async function startFakeOrigin(
  path: string,
  onData: (connection: FakeOriginConnection, bytes: Buffer) => void,
): Promise<FakeOrigin> {
  const connections: FakeOriginConnection[] = [];
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

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
export const GET = 'GET /a HTTP/1.1\r\nHost: h\r\n\r\n';
// Padded to a fixed length, which does not count against the client's 16 KB (SPEC G-31).
export const CLIENT_HEADER = `${`X-Fourbeat-Client: ${SECRET} 127.0.0.1`.padEnd(126)}\r\n`;
/** `GET` as the origin server receives it. */
export const FORWARDED_GET = `GET /a HTTP/1.1\r\n${CLIENT_HEADER}Host: h\r\n\r\n`;

/** Gives each test of a file a relay of its own, with clients and an origin server. */
export function relayForEachTest() {
  let fixture: RelayFixture;
  let origin: FakeOrigin | null;
  let clients: RawClient[];
  beforeEach(() => {
    fixture = startRelay();
    origin = null;
    clients = [];
  });
  afterEach(() => {
    for (const client of clients) client.close();
    origin?.close();
    fixture.close();
  });
  return {
    fixture: () => fixture,
    connections: () => origin?.connections ?? [],
    async startOrigin(onData: Parameters<typeof startFakeOrigin>[1]): Promise<void> {
      origin = await startFakeOrigin(fixture.path, onData);
    },
    client(): RawClient {
      const made = new RawClient(fixture.port);
      clients.push(made);
      return made;
    },
    originConnection(index: number): FakeOriginConnection {
      const connection = origin?.connections[index];
      if (!connection) throw new Error(`there is no origin connection ${index}`);
      return connection;
    },
  };
}

const TIMEOUT_MS = 10_000;
const TEXT_BYTES_MAX = 10_000_000;

/** A TCP client that sends and receives raw bytes. */
export class RawClient {
  /** The first 10 MB that it received, as Latin-1. */
  text = '';
  receivedBytes = 0;
  isClosed = false;
  private readonly socket: NetSocket;
  private readonly checks = new Set<() => void>();

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port });
    this.socket.on('error', () => {});
    const runChecks = () => {
      for (const check of this.checks) check();
    };
    this.socket.on('drain', runChecks);
    this.socket.on('close', () => {
      this.isClosed = true;
      runChecks();
    });
    this.socket.on('data', (bytes: Buffer) => {
      this.receivedBytes += bytes.length;
      if (this.text.length < TEXT_BYTES_MAX) this.text += bytes.toString('latin1');
      runChecks();
    });
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Bytes that it sent and the kernel has not taken. */
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

  receives(part: string): Promise<void> {
    return this.waitFor(() => this.text.includes(part), JSON.stringify(part));
  }

  waitForClose(): Promise<void> {
    return this.waitFor(() => this.isClosed, 'the end');
  }

  waitFor(condition: () => boolean, description: string): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        const received = JSON.stringify(this.text.slice(-500));
        reject(new Error(`timed out waiting for ${description}; received ${received}`));
      }, TIMEOUT_MS);
      const check = () => {
        if (!condition()) return;
        clearTimeout(timeout);
        this.checks.delete(check);
        resolve();
      };
      this.checks.add(check);
    });
  }
}

/** A client that takes everything and sends nothing by itself. */
export const silentClient = (): RelayClient => ({
  address: '127.0.0.1',
  send: () => true,
  pause: () => {},
  resume: () => {},
  completed: () => {},
  end: () => {},
});
