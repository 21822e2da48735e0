import type { Writable } from 'node:stream';
import { concatBytes } from '../byte-queue.ts';

/** Above this many queued bytes the writer must pause; 1 s of the largest source. */
const PAUSE_BYTES = 4 << 20;
/** Most bytes of one write to the pipe, whose buffer takes 64 kB. */
const CHUNK_BYTES = 256 << 10;

/** Standard input of a child process, with a queue. Ignores writes after the child has exited. */
export class ChildInput {
  private queue: Uint8Array[] = [];
  private queuedBytes = 0;
  private isWriting = false;
  private isEnding = false;
  private isClosed = false;
  private drain: PromiseWithResolvers<void> | null = null;

  /** @param stream null: the child could not be started */
  constructor(private readonly stream: Writable | null) {
    if (!stream) this.isClosed = true;
    stream?.on('error', () => this.close());
    stream?.on('close', () => this.close());
  }

  /** @returns false to apply back pressure until `drained` */
  write(bytes: Uint8Array): boolean {
    if (this.isClosed || this.isEnding || bytes.length === 0) return true;
    this.queue.push(bytes);
    this.queuedBytes += bytes.length;
    this.flush();
    return this.queuedBytes < PAUSE_BYTES;
  }

  /** Fulfilled when the queue has room again, or the child has exited. */
  drained(): Promise<void> {
    if (this.queuedBytes < PAUSE_BYTES) return Promise.resolve();
    this.drain ??= Promise.withResolvers();
    return this.drain.promise;
  }

  pendingBytes(): number {
    return this.queuedBytes;
  }

  /** Closes the input once the queue is written. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.flush();
  }

  /** Discards the queue, because the child has exited. */
  close(): void {
    this.isClosed = true;
    this.queue = [];
    this.queuedBytes = 0;
    this.resolveDrained();
  }

  private flush(): void {
    if (this.isWriting || this.isClosed) return;
    if (this.queue.length === 0) {
      if (this.isEnding) this.stream?.end();
      return;
    }
    const bytes = this.nextChunk();
    this.isWriting = true;
    this.stream?.write(bytes, (error) => {
      this.isWriting = false;
      if (error || this.isClosed) return this.close();
      this.queuedBytes -= bytes.length;
      if (this.queuedBytes < PAUSE_BYTES / 2) this.resolveDrained();
      this.flush();
    });
  }

  private nextChunk(): Uint8Array {
    let count = 0;
    let length = 0;
    for (const bytes of this.queue) {
      if (count > 0 && length + bytes.length > CHUNK_BYTES) break;
      length += bytes.length;
      count++;
    }
    const taken = this.queue.splice(0, count);
    return taken.length === 1 && taken[0] ? taken[0] : concatBytes(taken);
  }

  private resolveDrained(): void {
    this.drain?.resolve();
    this.drain = null;
  }
}
