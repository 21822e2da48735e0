import type { Socket } from 'bun';
import type { Relayed, RelayedClient } from './relayed.ts';
import { HEAD_BYTES_MAX } from './request-head.ts';
import { type LastHead, NO_HEAD } from './shape.ts';

/** What a connection is busy with, from a request to the end of its answer. */
export interface Task {
  /** Takes what the client sends; without it that is kept until the answer is over. */
  received?(bytes: Uint8Array): void;
  /** All that was sent has gone out. */
  drained?(): void;
  /** The client is gone. */
  closed(): void;
}

/** What connections share. */
export interface Desk {
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
const WRITING: Task = { closed: () => {} };
const NOTHING = Buffer.alloc(0);
const CR = 13;

/**
 * One connection of a client. At the boundary between two requests it has no task; then its bytes go to
 * the desk. Small on purpose: each viewer who polls has one.
 */
export class Connection implements RelayedClient {
  /** What the last requests of each method were like. */
  heartbeat: LastHead = NO_HEAD;
  feed: LastHead = NO_HEAD;
  private task: Task | null = null;
  /** What came and is not used yet: the begin of a head, or what follows a request with a task. */
  private kept: Buffer | null = null;
  private unsent: Uint8Array[] | null = null;
  private unsentTotal = 0;
  private isPaused = false;
  /** Too much came behind a request: it ends with its answer (G-31). */
  private isLast = false;
  /** The client is gone, or is told no more. */
  isEnded = false;
  /** The tick after which it is cut. */
  private deadline: number;

  constructor(
    private readonly socket: Socket<Connection>,
    private readonly desk: Desk,
  ) {
    this.deadline = desk.tick + IDLE_TIMEOUT_S;
  }

  /** Of the client. */
  get address(): string {
    return this.socket.remoteAddress;
  }

  /** Whether an answer is not complete. */
  get isBusy(): boolean {
    return this.task !== null || this.unsent !== null;
  }

  /** Whether an answer of the front's own is not complete. */
  get isAnswering(): boolean {
    return this.unsent !== null || (this.task !== null && !this.task.received);
  }

  /** Whether the client heard and said nothing for too long. */
  isOverdue(tick: number): boolean {
    const { closedTick } = this.desk;
    if (closedTick === null || this.unsent === null) return this.deadline < tick;
    return Math.min(this.deadline, closedTick + DRAINED_S) < tick;
  }

  /** The client sent bytes. */
  received(bytes: Buffer): void {
    if (this.isEnded || this.isLast) return;
    if (this.task === null) {
      this.take(this.kept === null ? bytes : Buffer.concat([this.kept, bytes]));
    } else if (this.task.received) {
      this.task.received(bytes);
    } else {
      this.keep(bytes);
    }
  }

  /** The client has room for more. */
  writable(): void {
    const { unsent } = this;
    if (unsent === null) return;
    while (unsent.length > 0) {
      const next = unsent[0] as Uint8Array;
      const taken = Math.max(0, this.socket.write(next));
      if (taken > 0) this.deadline = this.desk.tick + STALLED_S;
      this.unsentTotal -= taken;
      if (taken < next.length) {
        unsent[0] = next.subarray(taken);
        break;
      }
      unsent.shift();
    }
    if (unsent.length > 0) return;
    this.unsent = null;
    this.deadline = NEVER;
    if (this.isEnded) this.shutDown();
    else if (this.task === WRITING) this.done();
    else this.task?.drained?.();
  }

  /** The client is gone. */
  closed(): void {
    this.isEnded = true;
    const { task } = this;
    this.task = null;
    this.kept = null;
    this.unsent = null;
    task?.closed();
  }

  /** Gives it something to do until `done`; what the client sends meanwhile waits. */
  begin(task: Task): void {
    this.task = task;
    this.deadline = this.unsent === null ? NEVER : this.deadline;
  }

  /** Sends a whole answer. */
  answer(bytes: Uint8Array): void {
    if (this.isEnded) return;
    if (!this.send(bytes)) this.begin(WRITING);
    else if (this.task !== null) this.done();
  }

  /** The answer is over: what follows may be the next request. */
  done(): void {
    if (this.isEnded) return;
    if (this.unsent !== null) {
      this.begin(WRITING);
      return;
    }
    this.task = null;
    this.deadline = this.desk.tick + IDLE_TIMEOUT_S;
    if (this.isLast) this.end();
    else this.take(this.kept ?? NOTHING);
  }

  /** Passes on a request that is not answered here after all. */
  relay(request: Uint8Array): void {
    if (this.isEnded) return;
    const bytes = this.kept === null ? request : Buffer.concat([request, this.kept]);
    this.kept = null;
    try {
      this.begin(this.desk.relay(this, bytes));
    } catch (error) {
      this.fail(error as Error);
    }
  }

  send(bytes: Uint8Array): boolean {
    if (this.isEnded) return true;
    if (this.unsent !== null) {
      this.unsent.push(bytes);
      this.unsentTotal += bytes.length;
      return false;
    }
    const taken = this.socket.write(bytes);
    if (taken === bytes.length) return true;
    // It is closed; `closed` follows.
    if (taken < 0) return true;
    this.unsent = [bytes.subarray(taken)];
    this.unsentTotal = bytes.length - taken;
    this.deadline = this.desk.tick + STALLED_S;
    return false;
  }

  /** How many bytes wait to be sent. */
  unsentBytes(): number {
    return this.unsent === null ? 0 : this.unsentTotal;
  }

  pause(): void {
    this.isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.isPaused = false;
    this.socket.resume();
  }

  answered(rest: Uint8Array): void {
    this.kept = rest.length === 0 ? null : Buffer.from(rest.buffer, rest.byteOffset, rest.length);
    this.done();
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.task = null;
    this.kept = null;
    if (this.isPaused) this.resume();
    if (this.unsent === null) this.shutDown();
    else this.deadline = this.desk.tick + IDLE_TIMEOUT_S;
  }

  /** Ends it without another word. */
  cut(): void {
    this.socket.terminate();
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
    this.kept = null;
    while (at < bytes.length && this.task === null && !this.isEnded) {
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
    if (this.task !== null) return;
    if (desk.closedTick !== null) this.end();
    // A head that drips has no more time than one that does not come.
    else if (at > 0) this.deadline = desk.tick + IDLE_TIMEOUT_S;
  }

  private keep(bytes: Buffer): void {
    // The begin of a head is short, or the desk would have passed it on.
    if (this.task !== null && (this.kept?.length ?? 0) + bytes.length > HEAD_BYTES_MAX) {
      this.kept = null;
      this.isLast = true;
      this.pause();
    } else if (this.kept !== null) this.kept = Buffer.concat([this.kept, bytes]);
    // A part of what came at once would hold the whole of it in memory, which may be 512 KB.
    else this.kept = bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes;
  }
}

// One empty line before a request means nothing (RFC 9112, 2.2); a second one is no request.
function behindEmptyLine(bytes: Buffer, at: number): number {
  if (at + 1 === bytes.length) return bytes.length;
  return bytes[at + 1] === 10 ? at + 2 : at;
}
