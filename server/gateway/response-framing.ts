import { ChunkedFraming } from './chunked-framing.ts';

// As bytes: a search for a text takes six times as long.
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r]/;
// Told apart by their lengths.
const TELLING_FIELD = /\r\n(content-length|transfer-encoding|connection):[\t ]*([^\r]*)/gi;
const CLOSE = /\bclose\b/i;
const CLOSE_LINE = Buffer.from('Connection: close\r\n');

// Answers of ours have 2 KB; beyond this something is wrong.
const MAX_HEAD_BYTES = 65_536;

export interface AnswerOptions {
  /** The request asked for the head alone. */
  readonly isHead: boolean;
  /** Its connection ends after it, which the client is told. */
  readonly isLast: boolean;
}

/** Finds the end of the answer to one request (RFC 9112, 6.3), however it is cut. */
export class AnswerFraming {
  /** Whether the status of the final answer is known. */
  isBegun = false;
  /** Whether all of it has come. */
  isComplete = false;
  /** Whether it is no HTTP. */
  isBroken = false;
  /** Whether it ends with its connection. */
  endsWithConnection = false;
  /** Whether it said 101: what follows is another protocol. */
  isSwitched = false;
  /** Whether its connection may serve another request. */
  keepsConnection = true;
  /** What came after its end. */
  surplusBytes = 0;
  private saysClose = false;
  private partialHead: Buffer | null = null;
  private leftBytes = 0;
  private chunks: ChunkedFraming | null = null;

  constructor(private readonly options: AnswerOptions) {}

  /**
   * Takes the next bytes of the connection.
   * @returns what to pass on now: the very bytes wherever possible; maybe empty
   */
  take(bytes: Buffer): Buffer {
    if (this.isBegun) return firstOf(bytes, this.takeBody(bytes, 0));
    const all = this.partialHead ? Buffer.concat([this.partialHead, bytes]) : bytes;
    this.partialHead = null;
    let at = 0;
    while (!this.isBegun) {
      const end = all.indexOf(END_OF_HEAD, at);
      if (end < 0) return this.waitForHead(all, at);
      const head = all.toString('latin1', at, end + END_OF_HEAD.length);
      this.readHead(head);
      if (this.isBroken) return all.subarray(0, at);
      if (this.isBegun && this.options.isLast && !this.isSwitched) {
        return this.withClose(all, at, head);
      }
      at += head.length;
    }
    return firstOf(all, this.takeBody(all, at));
  }

  private waitForHead(all: Buffer, at: number): Buffer {
    this.partialHead = all.subarray(at);
    if (this.partialHead.length > MAX_HEAD_BYTES) this.isBroken = true;
    return all.subarray(0, at);
  }

  private readHead(head: string): void {
    const status = Number(STATUS_LINE.exec(head)?.[1]);
    // 100 and 103 come before the answer itself.
    if (status >= 100 && status < 200 && status !== 101) return;
    if (status >= 101) this.begin(status, head);
    else this.isBroken = true;
  }

  private begin(status: number, head: string): void {
    this.isBegun = true;
    this.isSwitched = status === 101;
    let length: number | null = null;
    let isChunked = false;
    TELLING_FIELD.lastIndex = 0;
    for (;;) {
      const field = TELLING_FIELD.exec(head);
      if (!field) break;
      const name = field[1] as string;
      const value = field[2] as string;
      if (name.length === 'content-length'.length) length = Number(value);
      else if (name.length === 'transfer-encoding'.length) isChunked = true;
      else if (CLOSE.test(value)) this.saysClose = true;
    }
    if (this.isSwitched) return;
    if (this.options.isHead || status === 204 || status === 304) this.isComplete = true;
    else if (isChunked) this.chunks = new ChunkedFraming();
    else if (length === null) this.endsWithConnection = true;
    else if (!Number.isSafeInteger(length)) this.isBroken = true;
    else this.leftBytes = length;
    if (length === 0 && !isChunked) this.isComplete = true;
    this.keepsConnection = !this.saysClose && !this.endsWithConnection;
  }

  private takeBody(bytes: Buffer, from: number): number {
    if (this.endsWithConnection || this.isSwitched) return bytes.length;
    const end = this.isComplete ? from : this.endOfBody(bytes, from);
    this.surplusBytes += bytes.length - end;
    return end;
  }

  private endOfBody(bytes: Buffer, from: number): number {
    if (this.chunks) {
      const end = this.chunks.take(bytes, from);
      this.isComplete = this.chunks.isComplete;
      this.isBroken = this.chunks.isBroken;
      return end;
    }
    const taken = Math.min(this.leftBytes, bytes.length - from);
    this.leftBytes -= taken;
    this.isComplete = this.leftBytes === 0;
    return from + taken;
  }

  private withClose(all: Buffer, at: number, head: string): Buffer {
    const end = this.takeBody(all, at + head.length);
    if (this.saysClose) return firstOf(all, end);
    const lineEnd = all.indexOf(END_OF_LINE, at) + 2;
    return Buffer.concat([all.subarray(0, lineEnd), CLOSE_LINE, all.subarray(lineEnd, end)]);
  }
}

function firstOf(bytes: Buffer, length: number): Buffer {
  return length === bytes.length ? bytes : bytes.subarray(0, length);
}
