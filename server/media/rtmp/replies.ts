import type { Socket } from 'node:net';
import { DEFAULT_CHUNK_BYTES } from './chunk-reader.ts';
import { writeChunks } from './chunk-writer.ts';
import { COMMAND, type RtmpMessage, SET_CHUNK_SIZE, uint32Of } from './rtmp-message.ts';

// Control messages use chunk stream 2 (Adobe RTMP 1.0, 5.4); commands may use any other.
const CONTROL_CHUNK_STREAM = 2;
const COMMAND_CHUNK_STREAM = 3;

/** Writes the server's messages to a connection. */
export class ReplyWriter {
  private chunkBytes = DEFAULT_CHUNK_BYTES;

  /** @param maxBufferedBytes a peer with more unread bytes is disconnected */
  constructor(
    private readonly socket: Socket,
    private readonly maxBufferedBytes: number,
  ) {}

  send(message: RtmpMessage): void {
    const chunkStream = message.type === COMMAND ? COMMAND_CHUNK_STREAM : CONTROL_CHUNK_STREAM;
    this.socket.write(writeChunks(message, chunkStream, this.chunkBytes));
    if (message.type === SET_CHUNK_SIZE) this.chunkBytes = uint32Of(message);
    if (this.socket.writableLength > this.maxBufferedBytes) this.socket.destroy();
  }
}
