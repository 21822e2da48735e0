import type { ContainerReader } from '../container/container.ts';
import type { SourceConnection } from './source-connection.ts';

// A few seconds of typical video.
const MAX_BUFFERED_BYTES = 8 << 20;
const POLL_MS = 50;
/** A connection without buffer space for this long counts as dead. */
export const STALL_TIMEOUT_MS = 15_000;

/**
 * Sends an encoder's output to the current connection. Output without a connection is discarded, as
 * with a camera; the next connection starts with the container headers and the next key frame.
 */
export class Relay {
  /** Bytes sent so far. */
  sentBytes = 0;
  private connection: SourceConnection | null = null;
  private hasStarted = false;

  constructor(private readonly reader: ContainerReader) {}

  /** Sets the connection that receives all further output; null discards it. */
  attach(connection: SourceConnection | null): void {
    this.connection = connection;
    this.hasStarted = false;
  }

  /** Accepts output of the encoder in chunks of any size. */
  push(bytes: Uint8Array): void {
    for (const unit of this.reader.push(bytes)) {
      const { connection } = this;
      if (!connection) continue;
      if (!this.hasStarted) {
        if (!unit.isEntryPoint) continue;
        this.hasStarted = true;
        this.send(connection, this.reader.header());
      }
      this.send(connection, unit.bytes);
    }
  }

  /**
   * Waits while the connection has too much buffered; this slows the encoder down.
   * @returns false when the connection counts as dead
   */
  async waitForRoom(sleep: (ms: number) => Promise<void>): Promise<boolean> {
    const { connection } = this;
    let waitedMs = 0;
    while (
      this.connection === connection &&
      connection &&
      connection.bufferedBytes() > MAX_BUFFERED_BYTES
    ) {
      if (waitedMs >= STALL_TIMEOUT_MS) return false;
      await sleep(POLL_MS);
      waitedMs += POLL_MS;
    }
    return true;
  }

  private send(connection: SourceConnection, bytes: Uint8Array): void {
    connection.send(bytes);
    this.sentBytes += bytes.length;
  }
}
