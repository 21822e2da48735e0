import { uint24 } from '../container/flv-tag.ts';
import { ABORT, RtmpError, type RtmpMessage, SET_CHUNK_SIZE, uint32Of } from './rtmp-message.ts';

/** What chunks are cut to while nobody said otherwise (Adobe RTMP 1.0, 5.4.1). */
export const DEFAULT_CHUNK_BYTES = 128;

/** Chunks larger than any message mean the same as this (5.4.1). They take no memory here. */
const CHUNK_BYTES_MAX = 0xff_ffff;
/** Encoders use five or six. */
const CHUNK_STREAMS_MAX = 64;
/** A timestamp that says that the real one follows in 32 bits. */
const EXTENDED = 0xff_ffff;
/** How long message headers are, by their format. */
const HEADER_BYTES = [11, 7, 3, 0] as const;
/** Room for a message is made as its bytes come, not as its header promises. */
const FIRST_ROOM_BYTES = 1 << 10;

/** What is remembered of a chunk stream: the newest header, and the message that is under way. */
interface ChunkStream {
  timestampMs: number;
  /** The timestamp or difference that the newest header had. */
  field: number;
  isExtended: boolean;
  length: number;
  type: number;
  streamId: number;
  body: Uint8Array | null;
  received: number;
}

/**
 * Puts messages together from their chunks (Adobe RTMP 1.0, 5.3). Set Chunk Size and Abort are
 * followed here; they are told all the same.
 */
export class ChunkReader {
  /** Longer messages are refused. */
  messageBytesMax: number;
  private input: Uint8Array = new Uint8Array(0);
  private at = 0;
  private chunkBytes = DEFAULT_CHUNK_BYTES;
  /** The chunk that is under way, and how much of it is to come. */
  private current: ChunkStream | null = null;
  private chunkRest = 0;
  private readonly streams = new Map<number, ChunkStream>();

  constructor(messageBytesMax: number) {
    this.messageBytesMax = messageBytesMax;
  }

  /** Takes what came; `next` reads it. */
  feed(bytes: Uint8Array): void {
    const rest = this.input.subarray(this.at);
    this.input = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    this.at = 0;
  }

  /**
   * @returns the next whole message, or null when more bytes are needed
   * @throws RtmpError when this is no RTMP, or more than a peer may send
   */
  next(): RtmpMessage | null {
    for (;;) {
      if (this.current === null && !this.beginChunk()) return null;
      const stream = this.current;
      if (stream === null) return null;
      this.take(stream);
      if (this.chunkRest > 0) return null;
      this.current = null;
      if (stream.received < stream.length) continue;
      const message = finished(stream);
      this.follow(message);
      return message;
    }
  }

  /** Reads a chunk's header. @returns false when it is not whole */
  private beginChunk(): boolean {
    const input = this.input.subarray(this.at);
    const basic = basicHeader(input);
    if (basic === null) return false;
    const { format, id } = basic;
    let at = basic.bytes;
    const end = at + (HEADER_BYTES[format] ?? 0);
    if (input.length < end) return false;
    const known = this.streams.get(id);
    const isExtended = format === 3 ? (known?.isExtended ?? false) : uint24(input, at) === EXTENDED;
    if (isExtended && input.length < end + 4) return false;
    const stream = known ?? this.newStream(id, format);
    if (format === 3) {
      // Some encoders leave it out here. A payload that begins with the same bytes is less likely.
      at = isExtended && uint32(input, end) === stream.field ? end + 4 : end;
    } else {
      readHeader(stream, format, input, at, isExtended);
      at = isExtended ? end + 4 : end;
    }
    if (stream.body === null) this.beginMessage(stream, format);
    this.at += at;
    this.current = stream;
    this.chunkRest = Math.min(this.chunkBytes, stream.length - stream.received);
    return true;
  }

  private newStream(id: number, format: number): ChunkStream {
    // Some encoders begin with format 1, which leaves out the stream alone.
    if (format > 1) throw new RtmpError('a chunk refers to one before that never came');
    if (this.streams.size >= CHUNK_STREAMS_MAX) throw new RtmpError('too many chunk streams');
    const stream: ChunkStream = {
      timestampMs: 0,
      field: 0,
      isExtended: false,
      length: 0,
      type: 0,
      streamId: 0,
      body: null,
      received: 0,
    };
    this.streams.set(id, stream);
    return stream;
  }

  private beginMessage(stream: ChunkStream, format: number): void {
    if (stream.length > this.messageBytesMax) {
      throw new RtmpError(`a message is too large: ${stream.length} bytes`);
    }
    // After format 0, format 3 means the same number again, now as a difference (5.3.1.2.4).
    const before = format === 0 ? 0 : stream.timestampMs;
    stream.timestampMs = (before + stream.field) >>> 0;
    stream.body = new Uint8Array(Math.min(stream.length, FIRST_ROOM_BYTES));
    stream.received = 0;
  }

  /** Moves what is there of the chunk into its message. */
  private take(stream: ChunkStream): void {
    const part = this.input.subarray(this.at, this.at + this.chunkRest);
    if (part.length === 0) return;
    const needed = stream.received + part.length;
    this.makeRoom(stream, needed);
    stream.body?.set(part, stream.received);
    stream.received = needed;
    this.at += part.length;
    this.chunkRest -= part.length;
  }

  private makeRoom(stream: ChunkStream, needed: number): void {
    const body = stream.body ?? new Uint8Array(0);
    if (needed <= body.length) return;
    const room = Math.min(stream.length, Math.max(needed, 2 * body.length));
    const rooms = [...this.streams.values()].reduce((sum, one) => sum + roomOf(one), room);
    // Several messages may be under way, but one alone may be large.
    if (rooms - body.length > 2 * this.messageBytesMax) {
      throw new RtmpError('too many messages at the same time');
    }
    const larger = new Uint8Array(room);
    larger.set(body.subarray(0, stream.received));
    stream.body = larger;
  }

  private follow(message: RtmpMessage): void {
    if (message.type === SET_CHUNK_SIZE) {
      const bytes = uint32Of(message);
      if (bytes === 0 || bytes > 0x7fff_ffff) throw new RtmpError(`chunks of ${bytes} bytes`);
      this.chunkBytes = Math.min(bytes, CHUNK_BYTES_MAX);
    } else if (message.type === ABORT) {
      const stream = this.streams.get(uint32Of(message));
      if (stream !== undefined) forget(stream);
    }
  }
}

/** The format of a chunk, and the id of its chunk stream; null when it is not whole. */
function basicHeader(input: Uint8Array): { format: number; id: number; bytes: number } | null {
  const [first, second, third] = input;
  if (first === undefined) return null;
  const format = first >> 6;
  const id = first & 0x3f;
  if (id > 1) return { format, id, bytes: 1 };
  if (second === undefined) return null;
  if (id === 0) return { format, id: 64 + second, bytes: 2 };
  return third === undefined ? null : { format, id: 64 + second + 256 * third, bytes: 3 };
}

function readHeader(
  stream: ChunkStream,
  format: number,
  input: Uint8Array,
  at: number,
  isExtended: boolean,
): void {
  if (stream.body !== null) throw new RtmpError('a message began within another');
  stream.isExtended = isExtended;
  stream.field = isExtended ? uint32(input, at + (HEADER_BYTES[format] ?? 0)) : uint24(input, at);
  if (format > 1) return;
  stream.length = uint24(input, at + 3);
  stream.type = input[at + 6] ?? 0;
  if (format === 0) stream.streamId = uint32(input, at + 7, true);
}

function finished(stream: ChunkStream): RtmpMessage {
  const payload = stream.body ?? new Uint8Array(0);
  const { type, streamId, timestampMs } = stream;
  forget(stream);
  return { type, streamId, timestampMs, payload };
}

function forget(stream: ChunkStream): void {
  stream.body = null;
  stream.received = 0;
}

function roomOf(stream: ChunkStream): number {
  return stream.body?.length ?? 0;
}

function uint32(bytes: Uint8Array, at: number, isLittleEndian = false): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, isLittleEndian);
}
