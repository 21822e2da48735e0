import type { Socket } from 'bun';
import type { OpenFiles } from '../../platform/open-files.ts';
import { runtime } from '../../platform/runtime.ts';
import { WriteBuffer } from '../write-buffer.ts';

/** The user of a connection to the origin server. It gets no event after it released the connection. */
export interface OriginConnectionUser {
  /** Whether the user still needs the connection for which it called `dial`. */
  readonly wantsConnection: boolean;
  /** Whether the user may take a connection that served other requests. */
  readonly canShare: boolean;
  onConnected(connection: OriginConnection): void;
  onOriginData(bytes: Buffer): void;
  /** All bytes have been written. */
  onOriginDrain(): void;
  onOriginClose(): void;
}

// Connections that one thread opens at once. The kernel refuses those above the backlog of the origin
// server: 512 for all threads together.
const MAX_DIALING = 64;
const RETRY_MS = 20;

// In seconds. Shorter than the idle timeout of the origin server (255 s), which thus never closes a
// connection just as a request is sent on it.
const MAX_IDLE_TICKS = 4;
const MAX_IDLE_CONNECTIONS = 64;

/** Both ends are in this process. */
const FILES_PER_CONNECTION = 2;

const OPEN = 1; // a value of `readyState`

export class OriginConnection {
  user: OriginConnectionUser | null = null;
  idleTicks = 0;
  private writeBuffer: WriteBuffer | null = null;

  constructor(private readonly socket: Socket<SocketData>) {}

  /**
   * Writes bytes. Bytes that the socket does not take are buffered.
   * @returns false when bytes are buffered: `onOriginDrain` is called once they are written
   */
  write(bytes: Uint8Array): boolean {
    if (this.writeBuffer !== null) {
      this.writeBuffer.push(bytes);
      return false;
    }
    const written = Math.max(0, this.socket.write(bytes));
    if (written === bytes.length) return true;
    this.writeBuffer = new WriteBuffer(bytes.subarray(written));
    return false;
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Closes the connection at once; buffered bytes are lost. */
  destroy(): void {
    this.user = null;
    this.socket.terminate();
  }

  /** @internal Writes buffered bytes: the socket takes bytes again. */
  onDrain(): void {
    this.writeBuffer?.writeTo(this.socket);
    if (this.writeBuffer !== null && this.writeBuffer.bytes > 0) return;
    this.writeBuffer = null;
    this.user?.onOriginDrain();
  }
}

interface SocketData {
  /** null until the socket is open. */
  connection: OriginConnection | null;
  isEnded: boolean;
}

/** A user that waits for a connection. */
interface Waiter {
  readonly user: OriginConnectionUser;
  isServed: boolean;
}

/** A pool of keep-alive connections to the origin server. */
export class OriginConnectionPool {
  // A stack: connections that are not needed stay at its bottom and time out.
  private readonly idle: OriginConnection[] = [];
  /**
   * The users that wait for a connection, in order. `sharingQueue` has those of them with `canShare`. Who got one from
   * the other queue stays until those before it have one.
   *
   * No sets: the first element of a set leaves an iterator open, and one that the garbage collector still finds on
   * the stack keeps all later elements. A worker kept 105,000 ended requests, 250 MB.
   */
  private readonly queue: Waiter[] = [];
  private readonly sharingQueue: Waiter[] = [];
  /** The number of users that wait. */
  private waiting = 0;
  private dialing = 0;
  private retry: Timer | null = null;
  private isClosed = false;

  /** @param path the unix socket of the origin server */
  constructor(
    private readonly path: string,
    private readonly openFiles: Pick<OpenFiles, 'take' | 'release'>,
  ) {}

  /** Gives an idle connection to a user with `canShare`. @returns null when none is idle */
  takeIdle(user: OriginConnectionUser): OriginConnection | null {
    const connection = this.idle.pop();
    if (!connection) return null;
    connection.user = user;
    return connection;
  }

  /**
   * Opens a connection for a user. `onConnected` gets this connection, or a released one if the user
   * may share and it is free earlier. Failures are not reported: the pool retries, without a limit.
   */
  dial(user: OriginConnectionUser): void {
    const waiter = { user, isServed: false };
    this.queue.push(waiter);
    if (user.canShare) this.sharingQueue.push(waiter);
    this.waiting++;
    this.dialNext();
  }

  /** Takes back a connection that is at the end of a response and can serve another request. */
  release(connection: OriginConnection): void {
    connection.user = null;
    connection.idleTicks = 0;
    this.assign(connection, this.sharingQueue);
  }

  /** Closes connections that were idle for too long. Call it once a second. */
  tick(): void {
    for (const connection of [...this.idle]) {
      if (++connection.idleTicks >= MAX_IDLE_TICKS) this.dropIdle(connection);
    }
  }

  close(): void {
    this.isClosed = true;
    this.queue.length = 0;
    this.sharingQueue.length = 0;
    if (this.retry) runtime.clearTimer(this.retry);
    for (const connection of this.idle.splice(0)) connection.destroy();
  }

  private dropIdle(connection: OriginConnection): void {
    const index = this.idle.indexOf(connection);
    if (index >= 0) this.idle.splice(index, 1);
    connection.destroy();
  }

  /** Gives a connection to the first waiting user. If no user waits, the connection becomes idle. */
  private assign(connection: OriginConnection, queue: Waiter[]): void {
    const user = this.isClosed ? null : this.nextUser(queue);
    if (user) {
      connection.user = user;
      user.onConnected(connection);
    } else if (this.isClosed || this.idle.length >= MAX_IDLE_CONNECTIONS) {
      connection.destroy();
    } else {
      this.idle.push(connection);
    }
  }

  private nextUser(queue: Waiter[]): OriginConnectionUser | null {
    let next: OriginConnectionUser | null = null;
    while (!next) {
      const waiter = queue.shift();
      if (!waiter) break;
      if (waiter.isServed) continue;
      waiter.isServed = true;
      this.waiting--;
      if (waiter.user.wantsConnection) next = waiter.user;
    }
    dropServed(this.queue);
    dropServed(this.sharingQueue);
    return next;
  }

  private dialNext(): void {
    while (!this.retry && !this.isClosed) {
      if (this.dialing >= Math.min(MAX_DIALING, this.waiting)) return;
      if (this.openFiles.take(FILES_PER_CONNECTION)) this.dialOne();
      else this.retryLater();
    }
  }

  private dialOne(): void {
    this.dialing++;
    Bun.connect<SocketData>({
      unix: this.path,
      data: { connection: null, isEnded: false },
      socket: this.handlers,
    }).then(
      (socket) => {
        this.dialing--;
        this.onOpen(socket);
        this.dialNext();
      },
      () => {
        this.dialing--;
        this.openFiles.release(FILES_PER_CONNECTION);
        this.retryLater();
      },
    );
  }

  private onOpen(socket: Socket<SocketData>): void {
    // The socket closed before a user got it: the pool dials another.
    if (socket.data.isEnded || socket.readyState !== OPEN) {
      socket.terminate();
      this.retryLater();
      return;
    }
    socket.data.connection = new OriginConnection(socket);
    this.assign(socket.data.connection, this.queue);
  }

  private retryLater(): void {
    if (this.retry || this.isClosed) return;
    this.retry = runtime.setTimeout(() => {
      this.retry = null;
      this.dialNext();
    }, RETRY_MS);
  }

  private onClose(connection: OriginConnection | null): void {
    if (!connection) return;
    const { user } = connection;
    if (user) {
      connection.user = null;
      user.onOriginClose();
    } else this.dropIdle(connection);
  }

  // One object for all sockets, so that no socket allocates closures.
  private readonly handlers = {
    data: (socket: Socket<SocketData>, bytes: Buffer) => {
      const { connection } = socket.data;
      if (connection?.user) connection.user.onOriginData(bytes);
      // Data without a request: the connection is in an unknown state.
      else if (connection) this.dropIdle(connection);
    },
    drain: (socket: Socket<SocketData>) => socket.data.connection?.onDrain(),
    close: (socket: Socket<SocketData>) => {
      socket.data.isEnded = true;
      this.openFiles.release(FILES_PER_CONNECTION);
      this.onClose(socket.data.connection);
    },
    error: (socket: Socket<SocketData>) => {
      socket.terminate();
    },
  };
}

function dropServed(queue: Waiter[]): void {
  while (queue[0]?.isServed) queue.shift();
}
