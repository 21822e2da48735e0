import type { Socket } from 'node:net';
import { DEFAULT_CHUNK_BYTES } from './chunk-reader.ts';
import { chunked } from './chunk-writer.ts';
import { COMMAND, type RtmpMessage, SET_CHUNK_SIZE, uint32Of } from './rtmp-message.ts';

// The first is the protocol's own (Adobe RTMP 1.0, 5.4); for commands any other is right.
const CONTROL_CHUNKS = 2;
const COMMAND_CHUNKS = 3;

/** What is sent to a source. */
export class Replies {
  private chunkBytes = DEFAULT_CHUNK_BYTES;

  /** @param waitingBytesMax a peer that lets more than this wait is cut off */
  constructor(
    private readonly socket: Socket,
    private readonly waitingBytesMax: number,
  ) {}

  send(message: RtmpMessage): void {
    const chunkStream = message.type === COMMAND ? COMMAND_CHUNKS : CONTROL_CHUNKS;
    this.socket.write(chunked(message, chunkStream, this.chunkBytes));
    if (message.type === SET_CHUNK_SIZE) this.chunkBytes = uint32Of(message);
    if (this.socket.writableLength > this.waitingBytesMax) this.socket.destroy();
  }
}
