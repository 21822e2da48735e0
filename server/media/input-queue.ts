import { Fifo } from '../platform/fifo.ts';
import { GroupQueue } from '../platform/group-queue.ts';
import { runtime } from '../platform/runtime.ts';
import type { SourceEnd, SourceSession } from './source.ts';

/** Most time of one turn of the event loop for input, in ms. */
const SLICE_MS = 15;
/** A chunk of the packager; MPEG-TS of runs of one packet takes about 1 ms. */
const PIECE_BYTES = 64 << 10;

/**
 * Writes the input of all sources for a slice of each turn of the event loop. Without it 16 sources of one account
 * that completed WebSocket messages of 3.7 MB in one turn stopped the thread for 0.5 to 1.1 s.
 */
export class InputQueue {
  /** Sessions with waiting input, by account. */
  private readonly waiting = new GroupQueue<QueuedSession>();
  /** Time that this turn has spent, ms. */
  private spentMs = 0;
  private isCounting = false;

  /** Writes the input of a session as far as this turn has time, and the rest in later turns. Accounts take turns. */
  add(session: QueuedSession): void {
    this.waiting.push(session.producer, session);
    this.writeSlice();
  }

  private writeSlice(): void {
    while (this.spentMs < SLICE_MS) {
      const session = this.waiting.shift();
      if (!session) return;
      this.startTurn();
      const startMs = runtime.monotonicMs();
      if (session.writePiece()) this.waiting.push(session.producer, session);
      this.spentMs += runtime.monotonicMs() - startMs;
    }
  }

  private startTurn(): void {
    if (this.isCounting) return;
    this.isCounting = true;
    runtime.setImmediate(() => {
      this.isCounting = false;
      this.spentMs = 0;
      this.writeSlice();
    });
  }
}

/** A session whose input waits while the turn of the event loop has no time left for it. */
export class QueuedSession implements SourceSession {
  readonly streamId: string;
  readonly producer: string;
  readonly closed: Promise<SourceEnd>;
  private readonly messages = new Fifo<Uint8Array>();
  /** Fulfilled when no input waits any more; null: none waits. */
  private written: PromiseWithResolvers<void> | null = null;
  private acceptsMore = true;

  constructor(
    private readonly session: SourceSession,
    private readonly queue: InputQueue,
  ) {
    this.streamId = session.streamId;
    this.producer = session.producer;
    this.closed = session.closed;
    void session.closed.then(() => {
      this.messages.clear();
      this.onWritten();
    });
  }

  write(bytes: Uint8Array): boolean {
    this.acceptsMore = true;
    this.messages.push(bytes);
    if (!this.written) {
      this.written = Promise.withResolvers();
      this.queue.add(this);
    }
    return this.acceptsMore && this.written === null;
  }

  async drained(): Promise<void> {
    do {
      await this.written?.promise;
      await this.session.drained();
    } while (this.written);
  }

  /** What was received before is written first. */
  end(reason: string): void {
    if (this.written) void this.written.promise.then(() => this.session.end(reason));
    else this.session.end(reason);
  }

  /** Writes the next 64 KB or less, of several messages: those of RTMP have 300 bytes. @returns whether input is left */
  writePiece(): boolean {
    let leftBytes = PIECE_BYTES;
    for (let message = this.messages.shift(); message; message = this.messages.shift()) {
      const piece = message.subarray(0, leftBytes);
      if (piece.length < message.length) this.messages.unshift(message.subarray(piece.length));
      if (!this.session.write(piece)) this.acceptsMore = false;
      leftBytes -= piece.length;
      if (leftBytes <= 0) break;
    }
    if (this.messages.length > 0) return true;
    this.onWritten();
    return false;
  }

  private onWritten(): void {
    this.written?.resolve();
    this.written = null;
  }
}
