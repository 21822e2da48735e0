import type { Socket } from 'bun';
import { ConnectionState, IDLE, type PendingResponse } from './connection-state.ts';
import type { Relayed, RelayedClient } from './relayed.ts';
import { HEAD_BYTES_MAX } from './request-head.ts';
import { type LastHead, NO_HEAD } from './request-template.ts';
import { WriteBuffer } from './write-buffer.ts';

/** What connections share. */
export interface RequestHandler {
  /** Seconds that the front has been there. */
  readonly tick: number;
  /** That tick when no request was awaited any more: a connection ends with its answer. Else null. */
  readonly closedTick: number | null;
  /**
   * Answers the request that begins at an offset, or begins to.
   * @returns where the next one begins; `INCOMPLETE` when more bytes must come; `RELAY` when it is
   *   not answered here
   */
  serve(connection: Connection, bytes: Buffer, at: number): number;
  /** Told what must not happen. */
  failed(error: Error): void;
  /** Passes on what begins with a request. */
  relay(client: RelayedClient, bytes: Uint8Array): Relayed;
}

export const INCOMPLETE = -1;
export const RELAY = -2;

/** Seconds from one request to the end of the next one's head (L-3). */
const IDLE_TIMEOUT_S = 12;
/** Seconds in which a client takes nothing of its answer. */
const STALLED_S = 30;
/** Seconds that a drain waits for clients to take their answers (O-11). */
const DRAINED_S = 3;
/** Seconds for what a client still sends to a connection that was ended. */
const LINGER_S = 2;
const NEVER = 2 ** 31 - 1;

/** An answer that is whole waits for the client to take it. */
const WRITING: PendingResponse = { closed: () => {} };
const NOTHING = Buffer.alloc(0);
const CR = 13;

/**
 * One connection of a client. At the boundary between two requests it has no task; then its bytes go to
 * the desk. Small on purpose: each viewer who polls has one. With six fields it takes 64 bytes of the
 * heap; with seven or eight it would take 80, and with all of `Busy` 112.
 */
export class Connection implements RelayedClient {
  /** What the last requests of each method were like. */
  heartbeat: LastHead = NO_HEAD;
  feed: LastHead = NO_HEAD;
  /** Changed by way of `own` alone: most share one. */
  private busy: Readonly<ConnectionState> = IDLE;
  /** The tick after which it is cut. */
  private deadline: number;

  constructor(
    private readonly socket: Socket<Connection>,
    private readonly desk: RequestHandler,
  ) {
    this.deadline = desk.tick + IDLE_TIMEOUT_S;
  }

  /** Of the client. */
  get address(): string {
    return this.socket.remoteAddress;
  }

  /** Whether the client is gone, or is told no more. */
  get isEnded(): boolean {
    return this.busy.isEnded;
  }

  /** Whether an answer is not complete. */
  get isBusy(): boolean {
    const { task, unsent } = this.busy;
    return task !== null || unsent !== null;
  }

  /** Whether an answer of the front's own is not complete. */
  get isAnswering(): boolean {
    const { task, unsent } = this.busy;
    return unsent !== null || (task !== null && !task.received);
  }

  /** Whether the client heard and said nothing for too long. */
  isOverdue(tick: number): boolean {
    const { closedTick } = this.desk;
    if (closedTick === null || this.busy.unsent === null) return this.deadline < tick;
    return Math.min(this.deadline, closedTick + DRAINED_S) < tick;
  }

  /** The client sent bytes. */
  received(bytes: Buffer): void {
    const { task, kept, isEnded, isLast } = this.busy;
    if (isEnded || isLast) return;
    if (task === null) {
      this.take(kept === null ? bytes : Buffer.concat([kept, bytes]));
    } else if (task.received) {
      task.received(bytes);
    } else {
      this.keep(bytes);
    }
  }

  /** The client has room for more. */
  writable(): void {
    const { unsent } = this.busy;
    if (unsent === null) return;
    if (unsent.writeTo(this.socket)) this.deadline = this.desk.tick + STALLED_S;
    if (unsent.bytes > 0) return;
    this.own.unsent = null;
    this.deadline = NEVER;
    const { task, isEnded } = this.busy;
    if (isEnded) this.shutDown();
    else if (task === WRITING) this.done();
    else task?.drained?.();
  }

  /** The client is gone. */
  closed(): void {
    const { task } = this.busy;
    this.busy = new ConnectionState();
    this.own.isEnded = true;
    task?.closed();
  }

  /** Gives it something to do until `done`; what the client sends meanwhile waits. */
  begin(task: PendingResponse): void {
    this.own.task = task;
    this.deadline = this.busy.unsent === null ? NEVER : this.deadline;
  }

  /** Sends a whole answer. */
  answer(bytes: Uint8Array): void {
    if (this.isEnded) return;
    if (!this.send(bytes)) this.begin(WRITING);
    else if (this.busy.task !== null) this.done();
  }

  /** The answer is over: what follows may be the next request. */
  done(): void {
    const { unsent, kept, isEnded, isLast } = this.busy;
    if (isEnded) return;
    if (unsent !== null) {
      this.begin(WRITING);
      return;
    }
    this.own.task = null;
    this.deadline = this.desk.tick + IDLE_TIMEOUT_S;
    if (isLast) this.end();
    else this.take(kept ?? NOTHING);
  }

  /** Passes on a request that is not answered here after all. */
  relay(request: Uint8Array): void {
    const { kept, isEnded } = this.busy;
    if (isEnded) return;
    const bytes = kept === null ? request : Buffer.concat([request, kept]);
    this.own.kept = null;
    try {
      this.begin(this.desk.relay(this, bytes));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  send(bytes: Uint8Array): boolean {
    const { unsent, isEnded } = this.busy;
    if (isEnded) return true;
    if (unsent !== null) {
      unsent.push(bytes);
      return false;
    }
    const taken = this.socket.write(bytes);
    if (taken === bytes.length) return true;
    // It is closed; `closed` follows.
    if (taken < 0) return true;
    this.own.unsent = new WriteBuffer(bytes.subarray(taken));
    this.deadline = this.desk.tick + STALLED_S;
    return false;
  }

  /** How many bytes wait to be sent. */
  unsentBytes(): number {
    return this.busy.unsent?.bytes ?? 0;
  }

  pause(): void {
    this.own.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.own.isPaused = false;
    this.socket.resume();
  }

  answered(rest: Uint8Array): void {
    const { buffer, byteOffset, length } = rest;
    this.own.kept = length === 0 ? null : Buffer.from(buffer, byteOffset, length);
    this.done();
  }

  end(): void {
    if (this.isEnded) return;
    const { own } = this;
    own.isEnded = true;
    own.task = null;
    own.kept = null;
    if (own.isPaused) this.resume();
    if (own.unsent === null) this.shutDown();
    else this.deadline = this.desk.tick + IDLE_TIMEOUT_S;
  }

  /** Ends it without another word. */
  cut(): void {
    this.socket.terminate();
  }

  private get own(): ConnectionState {
    if (this.busy === IDLE) this.busy = new ConnectionState();
    return this.busy;
  }

  private shutDown(): void {
    this.deadline = this.desk.tick + LINGER_S;
    // To close while the client still sends would take the answer back: what comes is thrown away.
    this.socket.shutdown();
  }

  // Whoever answers many does so one after the other: a defect met here must be this client's alone.
  private fail(error: Error): void {
    this.desk.failed(error);
    this.cut();
  }

  private take(bytes: Buffer): void {
    try {
      this.use(bytes);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private use(bytes: Buffer): void {
    const { desk } = this;
    let at = 0;
    // Without a task nothing is unsent, and nobody has it paused.
    this.busy = IDLE;
    while (at < bytes.length && this.busy.task === null && !this.isEnded) {
      const from = bytes[at] === CR ? behindEmptyLine(bytes, at) : at;
      const next = from < bytes.length ? desk.serve(this, bytes, from) : INCOMPLETE;
      if (next === RELAY) {
        this.begin(desk.relay(this, bytes.subarray(from)));
        return;
      }
      if (next === INCOMPLETE) break;
      at = next;
    }
    if (this.isEnded) return;
    if (at < bytes.length) this.keep(bytes.subarray(at));
    if (this.busy.task !== null) return;
    if (desk.closedTick !== null) this.end();
    // A head that drips has no more time than one that does not come.
    else if (at > 0) this.deadline = desk.tick + IDLE_TIMEOUT_S;
  }

  private keep(bytes: Buffer): void {
    const { own } = this;
    // The begin of a head is short, or the desk would have passed it on.
    if (own.task !== null && (own.kept?.length ?? 0) + bytes.length > HEAD_BYTES_MAX) {
      own.kept = null;
      own.isLast = true;
      this.pause();
    } else if (own.kept !== null) own.kept = Buffer.concat([own.kept, bytes]);
    // A part of what came at once would hold the whole of it in memory, which may be 512 KB.
    else own.kept = bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
  }
}

// One empty line before a request means nothing (RFC 9112, 2.2); a second one is no request.
function behindEmptyLine(bytes: Buffer, at: number): number {
  if (at + 1 === bytes.length) return bytes.length;
  return bytes[at + 1] === 10 ? at + 2 : at;
}
