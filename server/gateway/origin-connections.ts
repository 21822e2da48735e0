import type { Socket } from 'bun';
import { WriteBuffer } from './write-buffer.ts';

/** Who has an inner connection. Nothing is called on one that gave it back. */
export interface InnerUser {
  /** Whether a connection is still wanted, when one is made at last. */
  readonly wantsConnection: boolean;
  /** Whether one that served others will do. */
  readonly mayShare: boolean;
  connected(connection: InnerConnection): void;
  innerData(bytes: Buffer): void;
  /** All that was written is taken. */
  innerDrained(): void;
  innerClosed(): void;
}

// The kernel refuses those beyond the backlog of the origin server (512), and other threads dial too.
const MAX_DIALING = 64;
const RETRY_MS = 20;

// The origin server keeps them for longer: none is used that it is about to close.
const MAX_IDLE_TICKS = 4;
const MAX_IDLE = 64;

/** `readyState` of a socket. */
const OPEN = 1;

/** A connection to the origin server. */
export class InnerConnection {
  user: InnerUser | null = null;
  idleTicks = 0;
  private unsent: WriteBuffer | null = null;

  constructor(private readonly socket: Socket<InnerSlot>) {}

  /**
   * Sends bytes, which are kept in any case.
   * @returns false when not all are taken; then `innerDrained` follows
   */
  write(bytes: Uint8Array): boolean {
    if (this.unsent !== null) {
      this.unsent.push(bytes);
      return false;
    }
    const taken = Math.max(0, this.socket.write(bytes));
    if (taken === bytes.length) return true;
    this.unsent = new WriteBuffer(bytes.subarray(taken));
    return false;
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Ends it at once, both ways; what its user wrote may be lost. */
  destroy(): void {
    this.user = null;
    this.socket.terminate();
  }

  /** @internal The socket takes bytes again. */
  drain(): void {
    this.unsent?.writeTo(this.socket);
    if (this.unsent !== null && this.unsent.bytes > 0) return;
    this.unsent = null;
    this.user?.innerDrained();
  }
}

/** What a socket carries: its connection, once it is open. */
interface InnerSlot {
  connection: InnerConnection | null;
  isEnded: boolean;
}

/** Connections to the origin server, which are kept for a while when they can serve again. */
export class InnerConnections {
  // The last is used first, so that those too many get old.
  private readonly idle: InnerConnection[] = [];
  /** Who waits, in order; and those of them who may share. */
  private readonly queue = new Set<InnerUser>();
  private readonly sharing = new Set<InnerUser>();
  private dialing = 0;
  private retry: Timer | null = null;
  private isClosed = false;

  /** @param path where the origin server listens: a unix socket */
  constructor(private readonly path: string) {}

  /** One that served before, for a request that may share; null when there is none. */
  takeIdle(user: InnerUser): InnerConnection | null {
    const connection = this.idle.pop();
    if (!connection) return null;
    connection.user = user;
    return connection;
  }

  /**
   * Makes a new one, and calls `connected` with it, later; or with one that others no longer need, if that
   * comes first. Fails silently and for as long as it is wanted.
   */
  dial(user: InnerUser): void {
    this.queue.add(user);
    if (user.mayShare) this.sharing.add(user);
    this.dialNext();
  }

  /** Takes one back that is at the end of an answer, and may serve again. */
  release(connection: InnerConnection): void {
    connection.user = null;
    connection.idleTicks = 0;
    this.handOver(connection, this.sharing);
  }

  /** A second has passed: ends those that were idle for too long. */
  tick(): void {
    for (const connection of [...this.idle]) {
      if (++connection.idleTicks >= MAX_IDLE_TICKS) this.dropIdle(connection);
    }
  }

  /** How many wait for a request. */
  idleCount(): number {
    return this.idle.length;
  }

  close(): void {
    this.isClosed = true;
    this.queue.clear();
    this.sharing.clear();
    if (this.retry) clearTimeout(this.retry);
    for (const connection of this.idle.splice(0)) connection.destroy();
  }

  private dropIdle(connection: InnerConnection): void {
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    connection.destroy();
  }

  /** Gives one to whoever of these has waited longest; else it is kept for a while. */
  private handOver(connection: InnerConnection, waiting: ReadonlySet<InnerUser>): void {
    const user = this.isClosed ? null : this.nextOf(waiting);
    if (user) {
      connection.user = user;
      user.connected(connection);
    } else if (this.isClosed || this.idle.length >= MAX_IDLE) {
      connection.destroy();
    } else {
      this.idle.push(connection);
    }
  }

  private nextOf(waiting: ReadonlySet<InnerUser>): InnerUser | null {
    for (const user of waiting) {
      this.queue.delete(user);
      this.sharing.delete(user);
      if (user.wantsConnection) return user;
    }
    return null;
  }

  private dialNext(): void {
    while (!this.retry && !this.isClosed) {
      if (this.dialing >= Math.min(MAX_DIALING, this.queue.size)) return;
      this.dialOne();
    }
  }

  private dialOne(): void {
    this.dialing++;
    Bun.connect<InnerSlot>({
      unix: this.path,
      data: { connection: null, isEnded: false },
      socket: this.handlers,
    }).then(
      (socket) => {
        this.dialing--;
        this.opened(socket);
        this.dialNext();
      },
      () => {
        this.dialing--;
        this.retryLater();
      },
    );
  }

  private opened(socket: Socket<InnerSlot>): void {
    // Nothing was said on it, so whoever waits may have another.
    if (socket.data.isEnded || socket.readyState !== OPEN) {
      socket.terminate();
      this.retryLater();
      return;
    }
    socket.data.connection = new InnerConnection(socket);
    this.handOver(socket.data.connection, this.queue);
  }

  private retryLater(): void {
    if (this.retry || this.isClosed) return;
    this.retry = setTimeout(() => {
      this.retry = null;
      this.dialNext();
    }, RETRY_MS);
  }

  private closed(connection: InnerConnection | null): void {
    if (!connection) return;
    const { user } = connection;
    if (user) {
      connection.user = null;
      user.innerClosed();
    } else this.dropIdle(connection);
  }

  // Shared by all sockets: none has a closure of its own.
  private readonly handlers = {
    data: (socket: Socket<InnerSlot>, bytes: Buffer) => {
      const { connection } = socket.data;
      if (connection?.user) connection.user.innerData(bytes);
      // Nobody asked for anything.
      else if (connection) this.dropIdle(connection);
    },
    drain: (socket: Socket<InnerSlot>) => socket.data.connection?.drain(),
    close: (socket: Socket<InnerSlot>) => {
      socket.data.isEnded = true;
      this.closed(socket.data.connection);
    },
    error: (socket: Socket<InnerSlot>) => {
      socket.terminate();
    },
  };
}
