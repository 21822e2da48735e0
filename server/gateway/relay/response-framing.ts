import type { SharedBody } from '../unsent-responses.ts';
import { ChunkedFraming } from './chunked-framing.ts';

// As bytes: a search for a string takes six times as long.
const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LINE = Buffer.from('\r\n');
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})[ \r]/;
// Names are recognized by their lengths.
const FRAMING_FIELD =
  /\r\n(content-length|transfer-encoding|connection|content-type|etag):[\t ]*([^\r]*)/gi;
const JSON_TYPE = /^application\/(?:\w+\+)?json\b/i;
const SEGMENT_TYPE = /^(?:video|audio)\//i;
const PLAYLIST_TYPE = /^application\/(?:vnd\.apple\.mpegurl|dash\+xml)/i;
const CLOSE = /\bclose\b/i;
const CLOSE_LINE = Buffer.from('Connection: close\r\n');

// The origin server's heads have about 2 KB.
const MAX_HEAD_BYTES = 65_536;

export interface ResponseFramingOptions {
  /** Whether the method of the request is HEAD: the response has no body. */
  readonly isHead: boolean;
  /**
   * Whether the client's connection ends after the response, which gets a `Connection: close`. Called
   * when the response begins.
   */
  readonly closesClient: () => boolean;
}

/** Finds the end of the response to one request (RFC 9112, 6.3) that arrives in pieces of any size. */
export class ResponseFraming {
  /** Whether the head of the final response has been taken. */
  hasStarted = false;
  isComplete = false;
  /** Whether the bytes violate the syntax of a response. The end of the response is then unknown. */
  isInvalid = false;
  /** Whether the end of the connection is the end of the response. */
  endsAtClose = false;
  /** Whether the status is 101: another protocol follows. */
  isUpgraded = false;
  /** Whether the body is video or audio. */
  isSegment = false;
  /** Whether the origin connection can serve another request. */
  keepsAlive = true;
  /** The number of bytes after the end of the response. */
  surplusBytes = 0;
  private saysClose = false;
  private partialHead: Buffer | null = null;
  private remainingBytes = 0;
  private isJson = false;
  private playlist: SharedBody | null = null;
  private chunks: ChunkedFraming | null = null;

  constructor(private readonly options: ResponseFramingOptions) {}

  /** The playlist that the origin server keeps for this response and others until they are taken. */
  get sharedBody(): SharedBody | null {
    return this.isComplete ? null : this.playlist;
  }

  /**
   * The bytes of this response alone that the origin server keeps until they are taken. Responses share other
   * bodies than JSON, or read them from a file. JSON in chunks is made as it is taken.
   */
  get ownBytes(): number {
    return this.isJson ? this.remainingBytes : 0;
  }

  /**
   * Takes the next bytes of the connection.
   * @returns the bytes to pass on now, possibly none; a view of `bytes` where possible, else a copy
   */
  take(bytes: Buffer): Buffer {
    if (this.hasStarted) return firstBytes(bytes, this.takeBody(bytes, 0));
    const all = this.partialHead ? Buffer.concat([this.partialHead, bytes]) : bytes;
    this.partialHead = null;
    let at = 0;
    while (!this.hasStarted) {
      const end = all.indexOf(END_OF_HEAD, at);
      if (end < 0) return this.waitForHead(all, at);
      const head = all.toString('latin1', at, end + END_OF_HEAD.length);
      this.readHead(head);
      if (this.isInvalid) return all.subarray(0, at);
      if (this.hasStarted && !this.isUpgraded && this.options.closesClient()) {
        this.keepsAlive = false;
        return this.addCloseHeader(all, at, head);
      }
      at += head.length;
    }
    return firstBytes(all, this.takeBody(all, at));
  }

  private waitForHead(all: Buffer, at: number): Buffer {
    this.partialHead = all.subarray(at);
    if (this.partialHead.length > MAX_HEAD_BYTES) this.isInvalid = true;
    return all.subarray(0, at);
  }

  private readHead(head: string): void {
    const status = Number(STATUS_LINE.exec(head)?.[1]);
    // 100 and 103 precede the final response.
    if (status >= 100 && status < 200 && status !== 101) return;
    if (status >= 101) this.start(status, head);
    else this.isInvalid = true;
  }

  private start(status: number, head: string): void {
    this.hasStarted = true;
    this.isUpgraded = status === 101;
    let length: number | null = null;
    let etag: string | null = null;
    let isPlaylist = false;
    let isChunked = false;
    for (const [, name = '', value = ''] of head.matchAll(FRAMING_FIELD)) {
      if (name.length === 'content-length'.length) length = Number(value);
      else if (name.length === 'transfer-encoding'.length) isChunked = true;
      else if (name.length === 'etag'.length) etag = value;
      else if (name.length === 'content-type'.length) {
        this.isJson = JSON_TYPE.test(value);
        this.isSegment = SEGMENT_TYPE.test(value);
        isPlaylist = PLAYLIST_TYPE.test(value);
      } else if (CLOSE.test(value)) this.saysClose = true;
    }
    if (this.isUpgraded) return;
    if (this.options.isHead || status === 204 || status === 304) this.isComplete = true;
    else if (isChunked) this.chunks = new ChunkedFraming();
    else if (length === null) this.endsAtClose = true;
    else if (!Number.isSafeInteger(length)) this.isInvalid = true;
    else this.remainingBytes = length;
    if (length === 0 && !isChunked) this.isComplete = true;
    this.keepsAlive = !this.saysClose && !this.endsAtClose;
    // The tag of a playlist is a hash of its text. Compressed it is another body.
    if (isPlaylist && etag !== null && length !== null)
      this.playlist = { key: `${etag} ${length}`, byteLength: length };
  }

  private takeBody(bytes: Buffer, from: number): number {
    if (this.endsAtClose || this.isUpgraded) return bytes.length;
    const end = this.isComplete ? from : this.endOfBody(bytes, from);
    this.surplusBytes += bytes.length - end;
    return end;
  }

  private endOfBody(bytes: Buffer, from: number): number {
    if (this.chunks) {
      const end = this.chunks.take(bytes, from);
      this.isComplete = this.chunks.isComplete;
      this.isInvalid = this.chunks.isInvalid;
      return end;
    }
    const taken = Math.min(this.remainingBytes, bytes.length - from);
    this.remainingBytes -= taken;
    this.isComplete = this.remainingBytes === 0;
    return from + taken;
  }

  // Takes the head at `at` and the body behind it, and inserts `Connection: close` into the head.
  private addCloseHeader(all: Buffer, at: number, head: string): Buffer {
    const end = this.takeBody(all, at + head.length);
    if (this.saysClose) return firstBytes(all, end);
    const lineEnd = all.indexOf(END_OF_LINE, at) + 2;
    return Buffer.concat([all.subarray(0, lineEnd), CLOSE_LINE, all.subarray(lineEnd, end)]);
  }
}

function firstBytes(bytes: Buffer, length: number): Buffer {
  return length === bytes.length ? bytes : bytes.subarray(0, length);
}
