import { uint24 } from '../container/flv-tag.ts';
import {
  ABORT,
  COMMAND,
  COMMAND_AMF3,
  RtmpError,
  type RtmpMessage,
  SET_CHUNK_SIZE,
  uint32Of,
} from './rtmp-message.ts';

/** Chunk size before the first Set Chunk Size (Adobe RTMP 1.0, 5.4.1). */
export const DEFAULT_CHUNK_BYTES = 128;

/** Maximum length of a message: a larger chunk size has no further effect (5.4.1). */
const MAX_CHUNK_BYTES = 0xff_ffff;
/** Encoders use five or six chunk streams. */
const MAX_CHUNK_STREAMS = 64;
/** Value of the 24-bit timestamp field when a 32-bit extended timestamp follows. */
const EXTENDED_TIMESTAMP = 0xff_ffff;
/** Length of message headers, by format. */
const HEADER_BYTES = [11, 7, 3, 0] as const;
/** Buffers grow with the received bytes, not with the length that a header announces. */
const INITIAL_BUFFER_BYTES = 1 << 10;

/** State of a chunk stream: its latest header and the message in progress. */
interface ChunkStream {
  timestampMs: number;
  /** Timestamp or delta of the latest header, ms. */
  timestampField: number;
  isExtended: boolean;
  length: number;
  type: number;
  streamId: number;
  body: Uint8Array | null;
  received: number;
}

/**
 * Assembles messages from chunks (Adobe RTMP 1.0, 5.3). Applies Set Chunk Size and Abort, and also
 * returns them.
 */
export class ChunkReader {
  private input: Uint8Array = new Uint8Array(0);
  private offset = 0;
  private chunkBytes = DEFAULT_CHUNK_BYTES;
  /** Chunk stream of the chunk in progress; `chunkRemainingBytes` counts the missing bytes. */
  private current: ChunkStream | null = null;
  private chunkRemainingBytes = 0;
  private readonly streams = new Map<number, ChunkStream>();

  /** Longer messages throw. */
  maxMessageBytes: number;

  /**
   * @param maxCommandBytes longer commands throw, and so do other messages until `maxMessageBytes` is raised
   */
  constructor(private readonly maxCommandBytes: number) {
    this.maxMessageBytes = maxCommandBytes;
  }

  /** Adds received bytes; `next` reads them. */
  feed(bytes: Uint8Array): void {
    const unread = this.input.subarray(this.offset);
    this.input = unread.length === 0 ? bytes : Buffer.concat([unread, bytes]);
    this.offset = 0;
  }

  /**
   * @returns the next complete message; null when more bytes are needed
   * @throws RtmpError for malformed input or an exceeded limit
   */
  next(): RtmpMessage | null {
    for (;;) {
      if (this.current === null && !this.beginChunk()) return null;
      const stream = this.current;
      if (stream === null) return null;
      this.readPayload(stream);
      if (this.chunkRemainingBytes > 0) return null;
      this.current = null;
      if (stream.received < stream.length) continue;
      const message = completeMessage(stream);
      this.applyControl(message);
      return message;
    }
  }

  /** Reads a chunk header. @returns false when it is incomplete */
  private beginChunk(): boolean {
    const input = this.input.subarray(this.offset);
    const basic = readBasicHeader(input);
    if (basic === null) return false;
    const { format, id } = basic;
    let offset = basic.bytes;
    const end = offset + (HEADER_BYTES[format] ?? 0);
    if (input.length < end) return false;
    const existing = this.streams.get(id);
    const isExtended =
      format === 3 ? (existing?.isExtended ?? false) : uint24(input, offset) === EXTENDED_TIMESTAMP;
    if (isExtended && input.length < end + 4) return false;
    const stream = existing ?? this.newStream(id, format);
    if (format === 3) {
      // Some encoders omit the repeated extended timestamp. A payload seldom begins with its bytes.
      offset = isExtended && uint32(input, end) === stream.timestampField ? end + 4 : end;
    } else {
      readHeader(stream, format, input, offset, isExtended);
      offset = isExtended ? end + 4 : end;
    }
    if (stream.body === null) this.beginMessage(stream, format);
    this.offset += offset;
    this.current = stream;
    this.chunkRemainingBytes = Math.min(this.chunkBytes, stream.length - stream.received);
    return true;
  }

  private newStream(id: number, format: number): ChunkStream {
    // Some encoders start with format 1, which lacks only the message stream id.
    if (format > 1) throw new RtmpError('a chunk refers to a previous one that does not exist');
    if (this.streams.size >= MAX_CHUNK_STREAMS) throw new RtmpError('too many chunk streams');
    const stream: ChunkStream = {
      timestampMs: 0,
      timestampField: 0,
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
    const isCommand = stream.type === COMMAND || stream.type === COMMAND_AMF3;
    if (stream.length > (isCommand ? this.maxCommandBytes : this.maxMessageBytes)) {
      throw new RtmpError(`a message is too large: ${stream.length} bytes`);
    }
    // Format 3 after format 0 repeats the timestamp as a delta (5.3.1.2.4).
    const previousMs = format === 0 ? 0 : stream.timestampMs;
    stream.timestampMs = (previousMs + stream.timestampField) >>> 0;
    stream.body = new Uint8Array(Math.min(stream.length, INITIAL_BUFFER_BYTES));
    stream.received = 0;
  }

  /** Moves the available bytes of the chunk into its message. */
  private readPayload(stream: ChunkStream): void {
    const part = this.input.subarray(this.offset, this.offset + this.chunkRemainingBytes);
    if (part.length === 0) return;
    const needed = stream.received + part.length;
    this.ensureCapacity(stream, needed);
    stream.body?.set(part, stream.received);
    stream.received = needed;
    this.offset += part.length;
    this.chunkRemainingBytes -= part.length;
  }

  private ensureCapacity(stream: ChunkStream, needed: number): void {
    const body = stream.body ?? new Uint8Array(0);
    if (needed <= body.length) return;
    const capacity = Math.min(stream.length, Math.max(needed, 2 * body.length));
    const totalCapacity = [...this.streams.values()].reduce(
      (sum, { body: other }) => sum + (other?.length ?? 0),
      capacity,
    );
    // Messages may be interleaved, but only one may be large.
    if (totalCapacity - body.length > 2 * this.maxMessageBytes) {
      throw new RtmpError('too many interleaved messages');
    }
    const larger = new Uint8Array(capacity);
    larger.set(body.subarray(0, stream.received));
    stream.body = larger;
  }

  private applyControl(message: RtmpMessage): void {
    if (message.type === SET_CHUNK_SIZE) {
      const bytes = uint32Of(message);
      // Smaller than the default is unusual: in chunks of one byte, a megabyte takes 130 ms of the thread.
      if (bytes < DEFAULT_CHUNK_BYTES || bytes > 0x7fff_ffff)
        throw new RtmpError(`invalid chunk size: ${bytes}; send chunks of at least 128 bytes`);
      this.chunkBytes = Math.min(bytes, MAX_CHUNK_BYTES);
    } else if (message.type === ABORT) {
      const stream = this.streams.get(uint32Of(message));
      if (stream !== undefined) discardMessage(stream);
    }
  }
}

/** Reads format and chunk stream id; null when the header is incomplete. */
function readBasicHeader(input: Uint8Array): { format: number; id: number; bytes: number } | null {
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
  offset: number,
  isExtended: boolean,
): void {
  if (stream.body !== null) throw new RtmpError('a message begins within another');
  stream.isExtended = isExtended;
  stream.timestampField = isExtended
    ? uint32(input, offset + (HEADER_BYTES[format] ?? 0))
    : uint24(input, offset);
  if (format > 1) return;
  stream.length = uint24(input, offset + 3);
  stream.type = input[offset + 6] ?? 0;
  if (format === 0) stream.streamId = uint32(input, offset + 7, true);
}

function completeMessage(stream: ChunkStream): RtmpMessage {
  const payload = stream.body ?? new Uint8Array(0);
  const { type, streamId, timestampMs } = stream;
  discardMessage(stream);
  return { type, streamId, timestampMs, payload };
}

function discardMessage(stream: ChunkStream): void {
  stream.body = null;
  stream.received = 0;
}

function uint32(bytes: Uint8Array, offset: number, isLittleEndian = false): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(offset, isLittleEndian);
}
