import type { Socket, SocketHandler } from 'bun';
import type { OpenFiles } from '../platform/open-files.ts';
import type { Relay, RelayClient } from './relay/relay.ts';
import { FALLBACK, HEAD_BYTES_MAX, NEED_MORE } from './request-head.ts';
import {
  type SharedBody,
  STALL_BYTES,
  STALL_TIMEOUT_S,
  type UnsentResponses,
} from './unsent-responses.ts';
import { type LastHead, NO_HEAD } from './viewer-request.ts';
import { WriteBuffer } from './write-buffer.ts';

export interface RequestHandler {
  /**
   * Responds to the request that begins at an offset, at once or later.
   * @param checkedEnd the offset after the bytes for which it returned `NEED_MORE` before: of an incomplete
   *   head, only new bytes are searched
   * @returns the offset of the next request; `NEED_MORE` while its head is incomplete, or `FALLBACK` when
   *   the request must be relayed
   */
  handle(connection: Connection, bytes: Buffer, at: number, checkedEnd: number): number;
}

/** What all connections of a gateway share. */
export interface ConnectionContext {
  /** The age of the gateway in seconds. */
  readonly tick: number;
  /** The tick at which the drain began, in which each connection ends with its response; null before. */
  readonly drainTick: number | null;
  readonly requests: RequestHandler;
  /** Reports a defect. */
  onDefect(error: Error): void;
  readonly relay: Pick<Relay, 'start'>;
  readonly openFiles: Pick<OpenFiles, 'takeForClient' | 'release'>;
  readonly unsent: Pick<UnsentResponses, 'set' | 'delete'>;
}

/** What a connection works on, from a request to the end of its response. */
export interface PendingResponse {
  /** Receives bytes of the client. Without this method they are buffered until the response is complete. */
  onData?(bytes: Uint8Array): void;
  /** All bytes of the response so far have been written. */
  onDrain?(): void;
  /** The client has disconnected. */
  onClose(): void;
  /** Whether something else bounds the unsent bytes of this response (SPEC F-25). */
  readonly isBounded?: boolean;
  /** The memory that the rest of the response takes elsewhere until it is sent. */
  readonly restBytes?: number;
  /** A body elsewhere that this response and others share. */
  readonly sharedBody?: SharedBody | null;
}

/** The state of a connection that waits for something: a response, the rest of a head, its end. */
class ConnectionState {
  pending: PendingResponse | null = null;
  /** Received bytes that are not handled yet: an incomplete head, or bytes behind a pending request. */
  buffered: Buffer | null = null;
  writeBuffer: WriteBuffer | null = null;
  isPaused = false;
  /** More than 16 KB arrived behind a request: the connection ends with its response (SPEC G-31). */
  endsAfterResponse = false;
  /** The client has disconnected, or gets no further response. */
  isEnded = false;
}

const IDLE: Readonly<ConnectionState> = new ConnectionState();

/** The time from one request to the end of the next head, in seconds (SPEC L-3). */
const IDLE_TIMEOUT_S = 12;
/** The time that a drain waits for clients to read their responses (SPEC O-11). */
const DRAIN_TIMEOUT_S = 3;
/** The time that a client may go on sending after the end of its connection. */
const LINGER_TIMEOUT_S = 2;
const NEVER = 2 ** 31 - 1;

/** The response is complete, and the client has not read all of it. */
const FLUSHING: PendingResponse = { onClose: () => {} };
const NO_BYTES = Buffer.alloc(0);
const CR = 13;
const LF = 10;

/**
 * One connection of a client. Between two requests nothing is pending, and received bytes go to the
 * handler. The object is small on purpose, since each polling viewer has one: with six fields it takes 64
 * bytes of the heap. Seven or eight fields would take 80, and the fields of `ConnectionState` in it 112.
 */
export class Connection implements RelayClient {
  heartbeat: LastHead = NO_HEAD;
  feed: LastHead = NO_HEAD;
  /** Modify it through `ownState` only: idle connections share one. */
  private state: Readonly<ConnectionState> = IDLE;
  /** The tick after which the connection times out. */
  private deadline: number;

  constructor(
    private readonly socket: Socket<Connection>,
    private readonly context: ConnectionContext,
  ) {
    this.deadline = context.tick + IDLE_TIMEOUT_S;
  }

  /** The IP address of the client. */
  get address(): string {
    return this.socket.remoteAddress;
  }

  /** Whether the client has disconnected, or gets no further response. */
  get isEnded(): boolean {
    return this.state.isEnded;
  }

  /** Whether a response is incomplete. */
  get hasPending(): boolean {
    const { pending, writeBuffer } = this.state;
    return pending !== null || writeBuffer !== null;
  }

  /** Whether the gateway composes a response, or has unsent bytes of any response. */
  get isResponding(): boolean {
    const { pending, writeBuffer } = this.state;
    return writeBuffer !== null || (pending !== null && !pending.onData);
  }

  isTimedOut(tick: number): boolean {
    const { drainTick } = this.context;
    if (drainTick === null || this.state.writeBuffer === null) return this.deadline < tick;
    return Math.min(this.deadline, drainTick + DRAIN_TIMEOUT_S) < tick;
  }

  /** Receives bytes from the client. */
  onData(bytes: Buffer): void {
    const { pending, buffered, isEnded, endsAfterResponse } = this.state;
    if (isEnded || endsAfterResponse) return;
    if (pending === null) {
      // Without a pending response the buffered bytes are an incomplete head, which the handler has checked.
      if (buffered === null) this.process(bytes, 0);
      else this.process(Buffer.concat([buffered, bytes]), buffered.length);
    } else if (pending.onData) {
      pending.onData(bytes);
    } else {
      this.buffer(bytes);
    }
  }

  /** The socket can take more bytes. */
  onDrain(): void {
    const { writeBuffer } = this.state;
    if (writeBuffer === null) return;
    writeBuffer.writeTo(this.socket);
    if (writeBuffer.writtenBytes >= STALL_BYTES) {
      writeBuffer.writtenBytes = 0;
      this.deadline = this.context.tick + STALL_TIMEOUT_S;
    }
    if (writeBuffer.bytes > 0) {
      this.countUnsent(writeBuffer);
      return;
    }
    this.ownState.writeBuffer = null;
    this.context.unsent.delete(this);
    this.deadline = NEVER;
    const { pending, isEnded } = this.state;
    if (isEnded) this.shutDown();
    else if (pending === FLUSHING) this.finish();
    else pending?.onDrain?.();
  }

  /** The client has disconnected. */
  onClose(): void {
    const { pending, writeBuffer } = this.state;
    this.state = new ConnectionState();
    this.ownState.isEnded = true;
    if (writeBuffer !== null) this.context.unsent.delete(this);
    pending?.onClose();
  }

  /** Sets what the connection works on until `finish`; meanwhile received bytes are buffered. */
  setPending(pending: PendingResponse): void {
    // The relay ends the connection at once when it rejects a request.
    if (this.isEnded) return;
    this.ownState.pending = pending;
    this.deadline = this.state.writeBuffer === null ? NEVER : this.deadline;
  }

  /** Sends a complete response. */
  respond(bytes: Uint8Array): void {
    if (this.isEnded) return;
    if (!this.send(bytes)) this.setPending(FLUSHING);
    else if (this.state.pending !== null) this.finish();
  }

  /** The response is complete: continues with the next request. */
  finish(): void {
    const { writeBuffer, buffered, isEnded, endsAfterResponse } = this.state;
    if (isEnded) return;
    if (writeBuffer !== null) {
      this.setPending(FLUSHING);
      this.countUnsent(writeBuffer);
      return;
    }
    this.ownState.pending = null;
    this.deadline = this.context.tick + IDLE_TIMEOUT_S;
    if (endsAfterResponse) this.end();
    else this.process(buffered ?? NO_BYTES, 0);
  }

  /** Relays a pending request to the origin server. */
  relay(request: Uint8Array): void {
    const { buffered, isEnded } = this.state;
    if (isEnded) return;
    const bytes = buffered === null ? request : Buffer.concat([request, buffered]);
    this.ownState.buffered = null;
    try {
      this.setPending(this.context.relay.start(this, bytes));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  send(bytes: Uint8Array): boolean {
    const { writeBuffer, isEnded } = this.state;
    if (isEnded) return true;
    if (writeBuffer !== null) {
      writeBuffer.push(bytes);
      this.countUnsent(writeBuffer);
      return false;
    }
    const written = this.socket.write(bytes);
    if (written === bytes.length) return true;
    // The socket is closed; `onClose` follows.
    if (written < 0) return true;
    const rest = new WriteBuffer(bytes.subarray(written));
    this.ownState.writeBuffer = rest;
    this.deadline = this.context.tick + STALL_TIMEOUT_S;
    this.countUnsent(rest);
    return false;
  }

  /** The number of bytes that wait to be sent. */
  unsentBytes(): number {
    return this.state.writeBuffer?.bytes ?? 0;
  }

  pause(): void {
    this.ownState.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.ownState.isPaused = false;
    this.socket.resume();
  }

  completed(surplus: Uint8Array): void {
    const { buffer, byteOffset, length } = surplus;
    this.ownState.buffered = length === 0 ? null : Buffer.from(buffer, byteOffset, length);
    this.finish();
  }

  end(): void {
    if (this.isEnded) return;
    const { ownState } = this;
    ownState.isEnded = true;
    ownState.pending = null;
    ownState.buffered = null;
    if (ownState.isPaused) this.resume();
    if (ownState.writeBuffer === null) this.shutDown();
    else this.deadline = this.context.tick + IDLE_TIMEOUT_S;
  }

  /** Closes the socket at once; unsent bytes are lost. */
  terminate(): void {
    this.socket.terminate();
  }

  private get ownState(): ConnectionState {
    if (this.state === IDLE) this.state = new ConnectionState();
    return this.state;
  }

  /** It may close the connection. */
  private countUnsent(writeBuffer: WriteBuffer): void {
    const { pending } = this.state;
    if (pending?.isBounded) return;
    const { buffers } = writeBuffer;
    const body = pending?.sharedBody;
    const held = body ? [...buffers, body] : buffers;
    this.context.unsent.set(this, held, pending?.restBytes ?? 0);
  }

  private shutDown(): void {
    this.deadline = this.context.tick + LINGER_TIMEOUT_S;
    // Half-close: a full close while the client still sends would reset the connection and drop the
    // response.
    this.socket.shutdown();
  }

  // One event may respond to many connections in a loop: a defect must end this connection only.
  private fail(error: Error): void {
    this.context.onDefect(error);
    this.terminate();
  }

  private process(bytes: Buffer, checkedEnd: number): void {
    try {
      this.processRequests(bytes, checkedEnd);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private processRequests(bytes: Buffer, checkedEnd: number): void {
    const { context } = this;
    let at = 0;
    // With nothing pending there is no unsent byte, and the socket is not paused.
    this.state = IDLE;
    while (at < bytes.length && this.state.pending === null && !this.isEnded) {
      const from = bytes[at] === CR ? skipEmptyLine(bytes, at) : at;
      const next =
        from < bytes.length ? context.requests.handle(this, bytes, from, checkedEnd) : NEED_MORE;
      if (next === FALLBACK) {
        this.setPending(context.relay.start(this, bytes.subarray(from)));
        return;
      }
      if (next === NEED_MORE) break;
      at = next;
    }
    if (this.isEnded) return;
    if (at < bytes.length) this.buffer(bytes.subarray(at));
    if (this.state.pending !== null) return;
    if (context.drainTick !== null) this.end();
    // Without a complete request the deadline stays: a slow head gets no extra time.
    else if (at > 0) this.deadline = context.tick + IDLE_TIMEOUT_S;
  }

  private buffer(bytes: Buffer): void {
    const { ownState } = this;
    // Without a pending response this is an incomplete head, which the handler limits.
    if (
      ownState.pending !== null &&
      (ownState.buffered?.length ?? 0) + bytes.length > HEAD_BYTES_MAX
    ) {
      ownState.buffered = null;
      ownState.endsAfterResponse = true;
      this.pause();
    } else if (ownState.buffered !== null) {
      ownState.buffered = Buffer.concat([ownState.buffered, bytes]);
    } else {
      // Copied, because a view would keep the whole receive buffer of up to 512 KB in memory.
      ownState.buffered = bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
    }
  }
}

/** The socket events of the connections of a gateway. @param open the set of its open connections */
export function connectionEvents(
  context: ConnectionContext,
  open: Set<Connection>,
): SocketHandler<Connection> {
  return {
    open: (socket) => {
      if (!context.openFiles.takeForClient()) {
        socket.terminate();
        return;
      }
      socket.data = new Connection(socket, context);
      open.add(socket.data);
    },
    data: (socket, bytes) => socket.data.onData(bytes),
    drain: (socket) => socket.data.onDrain(),
    // A client that ends its half of the connection is treated as gone (SPEC G-31).
    end: (socket) => void socket.end(),
    close: (socket) => {
      // Undefined for a socket that was refused, or closed before it was open.
      if (socket.data === undefined) return;
      context.openFiles.release(1);
      open.delete(socket.data);
      socket.data.onClose();
    },
    error: (socket, error) => {
      context.onDefect(error);
      socket.terminate();
    },
  };
}

// One empty line before a request is ignored (RFC 9112, 2.2). The handler rejects a second one.
function skipEmptyLine(bytes: Buffer, at: number): number {
  if (at + 1 === bytes.length) return bytes.length;
  return bytes[at + 1] === LF ? at + 2 : at;
}
