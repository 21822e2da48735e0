import { clientHeaderLine } from '../http/address.ts';
import { ChunkedFraming } from './chunked-framing.ts';
import type { InnerConnection, InnerConnections, InnerUser } from './origin-connections.ts';
import type { Relayed, RelayedClient } from './relayed.ts';
import { framingOf, type RequestFraming } from './request-framing.ts';
import { HEAD_BYTES_MAX } from './request-head.ts';
import { AnswerFraming } from './response-framing.ts';

/** What the requests of a relay share. */
export interface RelayedRequestOptions {
  readonly connections: InnerConnections;
  readonly secret: string;
  /** The request needs nothing more of the relay. */
  onOver(request: RelayedRequest): void;
}

const NOTHING = new Uint8Array(0);
const END_OF_BODY = Buffer.from('\r\n');

// In seconds. The front cuts a client that takes nothing, and the origin server has its own rules for
// bodies, which are stricter (L-2).
const MAX_SILENT_TICKS = 12;
const MAX_UNANSWERED_TICKS = 15;
const MAX_DIALING_TICKS = 5;
const MAX_ANSWERED_TICKS = 5;

/**
 * One request, from its first byte to the last of its answer; of one that became a tunnel, to the
 * end of its connection.
 */
export class RelayedRequest implements Relayed, InnerUser {
  /** Whether it is no request any longer but a connection for another protocol. */
  isTunnel = false;
  private readonly framing: RequestFraming;
  private readonly answer: AnswerFraming;
  private readonly chunks: ChunkedFraming | null;
  private inner: InnerConnection | null = null;
  /** What waits for the inner connection. */
  private waiting: Uint8Array[] = [];
  /** Of the body, when its length is known. */
  private leftBytes: number;
  private isRequestComplete: boolean;
  /** What came after the request. */
  private rest: Uint8Array[] = [];
  private restBytes = 0;
  private isOver = false;
  private isClientPaused = false;
  private isClientStalled = false;
  // Since the client last sent or took what it is waited for.
  private idleTicks = 0;
  private allTicks = 0;
  private answeredTicks = 0;

  constructor(
    private readonly client: RelayedClient,
    private readonly options: RelayedRequestOptions,
    bytes: Buffer,
  ) {
    const framing = framingOf(bytes);
    this.framing = framing;
    this.answer = new AnswerFraming({ isHead: framing.isHead, isLast: !framing.isPlain });
    this.chunks = framing.body === 'chunked' ? new ChunkedFraming() : null;
    this.leftBytes = typeof framing.body === 'number' ? framing.body : 0;
    this.isRequestComplete = framing.body === 0;
  }

  get wantsConnection(): boolean {
    return !this.isOver;
  }

  get mayShare(): boolean {
    return this.framing.isPlain;
  }

  /** @param bytes with which it begins: the same as at its making */
  begin(bytes: Buffer): void {
    const { connections, secret } = this.options;
    if (this.mayShare) this.inner = connections.takeIdle(this);
    const end = this.endOfBody(bytes, this.framing.headBytes);
    const { lineBytes } = this.framing;
    if (lineBytes === 0) this.forward(bytes);
    else
      this.forward(
        withClient(bytes, lineBytes, end, clientHeaderLine(secret, this.client.address)),
      );
    this.keep(bytes, this.endOfTrailers(bytes, end));
    if (!this.inner) connections.dial(this);
  }

  received(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.idleTicks = 0;
    const end = this.isTunnel ? bytes.length : this.endOfBody(bytes, 0);
    if (end > 0) this.forward(end === bytes.length ? bytes : bytes.subarray(0, end));
    this.keep(bytes, this.endOfTrailers(bytes, end));
    this.finishIfComplete();
  }

  drained(): void {
    if (this.isOver || !this.isClientStalled) return;
    this.isClientStalled = false;
    this.idleTicks = 0;
    this.inner?.resume();
  }

  closed(): void {
    this.over();
  }

  connected(connection: InnerConnection): void {
    this.inner = connection;
    const { waiting } = this;
    this.waiting = [];
    let isTaken = true;
    for (const bytes of waiting) isTaken = connection.write(bytes);
    if (isTaken) this.innerDrained();
  }

  innerData(bytes: Buffer): void {
    if (this.isTunnel) {
      this.send(bytes);
      return;
    }
    const { answer } = this;
    const passed = answer.take(bytes);
    if (passed.length > 0) this.send(passed);
    if (answer.isBroken) this.end();
    else if (answer.isSwitched) this.becomeTunnel();
    else this.finishIfComplete();
  }

  innerDrained(): void {
    if (this.isClientPaused && !this.isLast) this.resumeClient();
  }

  // Whether it ends an answer as it should or breaks it off: the client sees it by its framing.
  innerClosed(): void {
    this.inner = null;
    this.end();
  }

  /** A second has passed: ends the request of a client that does not send the rest of it. */
  tick(): void {
    this.allTicks++;
    this.idleTicks++;
    if (this.isTooLong()) this.end();
  }

  /** Breaks it off, and ends both connections. */
  end(): void {
    if (this.isOver) return;
    this.over();
    this.client.end();
  }

  /** Whether the answer is told, though the request may go on. */
  get isAnswered(): boolean {
    return this.answer.isComplete;
  }

  private isTooLong(): boolean {
    // Who was answered early may go on sending for a while, or would not read the answer.
    if (this.isAnswered) return ++this.answeredTicks > MAX_ANSWERED_TICKS;
    if (!this.inner) return this.allTicks > MAX_DIALING_TICKS;
    if (this.isTunnel || this.isRequestComplete || this.isClientPaused || this.isClientStalled) {
      return false;
    }
    if (this.answer.isBegun && !this.answer.isComplete) return false;
    const isOdd = this.framing.body === 'unknown';
    return this.idleTicks > MAX_SILENT_TICKS || (isOdd && this.allTicks > MAX_UNANSWERED_TICKS);
  }

  /** Where the body ends in these bytes, but for its trailers; or their end when it goes on. */
  private endOfBody(bytes: Uint8Array, from: number): number {
    if (this.framing.body === 'unknown') return bytes.length;
    if (this.isRequestComplete) return from;
    if (this.chunks) return this.chunks.takeChunks(bytes, from);
    const taken = Math.min(this.leftBytes, bytes.length - from);
    this.leftBytes -= taken;
    this.isRequestComplete = this.leftBytes === 0;
    return from + taken;
  }

  /**
   * Leaves out trailers, which mean nothing here: the origin server would take them for requests. So it
   * would what comes behind a chunk that is none.
   */
  private endOfTrailers(bytes: Uint8Array, from: number): number {
    const { chunks } = this;
    if (!chunks || this.isRequestComplete) return from;
    const end = chunks.take(bytes, from);
    if (chunks.isComplete) {
      this.isRequestComplete = true;
      this.forward(END_OF_BODY);
    }
    return end;
  }

  /** @returns whether the inner side took all of it */
  private forward(bytes: Uint8Array): boolean {
    const isTaken = this.inner?.write(bytes) ?? false;
    if (!this.inner) this.waiting.push(bytes);
    if (!isTaken && !this.isRequestComplete) this.pauseClient();
    return isTaken;
  }

  private keep(bytes: Uint8Array, from: number): void {
    if (from === bytes.length) return;
    if (this.isAnswered && this.isRequestComplete) {
      // Of the next request, however much it is: who was answered early did not send it too early.
      this.rest.push(bytes.subarray(from));
      return;
    }
    this.restBytes += bytes.length - from;
    if (this.isLast) {
      this.rest = [];
      this.pauseClient();
    } else {
      // A part of what came at once would hold the whole of it in memory.
      this.rest.push(Buffer.from(bytes.subarray(from)));
    }
  }

  /** Whether too much came behind it for the connection to serve further requests (G-31). */
  private get isLast(): boolean {
    return this.restBytes > HEAD_BYTES_MAX;
  }

  private send(bytes: Buffer): void {
    if (this.client.send(bytes)) return;
    this.isClientStalled = true;
    this.idleTicks = 0;
    this.inner?.pause();
  }

  private becomeTunnel(): void {
    if (this.isLast) {
      this.end();
      return;
    }
    this.isTunnel = true;
    this.isRequestComplete = false;
    const { rest } = this;
    this.rest = [];
    this.restBytes = 0;
    let isTaken = true;
    for (const bytes of rest) isTaken = this.forward(bytes);
    if (isTaken) this.innerDrained();
  }

  private finishIfComplete(): void {
    const { answer, framing, inner } = this;
    if (this.isOver || !answer.isComplete) return;
    if (!framing.isPlain || !answer.keepsConnection || answer.surplusBytes > 0 || this.isLast) {
      this.end();
      return;
    }
    if (!this.isRequestComplete || !inner) return;
    this.inner = null;
    if (this.isClientStalled) inner.resume();
    this.options.connections.release(inner);
    this.isOver = true;
    this.options.onOver(this);
    this.resumeClient();
    this.client.answered(this.joinedRest());
  }

  private joinedRest(): Uint8Array {
    const [first = NOTHING] = this.rest;
    return this.rest.length > 1 ? Buffer.concat(this.rest) : first;
  }

  private over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.inner?.destroy();
    this.inner = null;
    this.options.onOver(this);
  }

  private pauseClient(): void {
    if (this.isClientPaused) return;
    this.isClientPaused = true;
    this.client.pause();
  }

  private resumeClient(): void {
    if (!this.isClientPaused) return;
    this.isClientPaused = false;
    this.client.resume();
  }
}

/** The first bytes of a request, with the header about its client after its first line. */
function withClient(bytes: Buffer, lineBytes: number, end: number, line: string): Buffer {
  const joined = Buffer.allocUnsafe(end + line.length);
  bytes.copy(joined, 0, 0, lineBytes);
  joined.write(line, lineBytes, 'latin1');
  bytes.copy(joined, lineBytes + line.length, lineBytes, end);
  return joined;
}
