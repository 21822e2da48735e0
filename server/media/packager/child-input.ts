import type { Writable } from 'node:stream';
import { joined } from '../byte-queue.ts';

/** When more than this waits, the writer is asked to pause; 1 s of the largest source. */
const PAUSE_BYTES = 4 << 20;
/** What is handed to the pipe at once. A pipe takes 64 kB. */
const CHUNK_BYTES = 256 << 10;

/** Standard input of a child: what it does not take yet waits, and that it is gone harms nobody. */
export class ChildInput {
  private waiting: Uint8Array[] = [];
  private waitingBytes = 0;
  private isWriting = false;
  private isEnding = false;
  private isGone = false;
  private wanted: PromiseWithResolvers<void> | null = null;

  /** @param stream null: of a child that could not be started */
  constructor(private readonly stream: Writable | null) {
    if (!stream) this.isGone = true;
    stream?.on('error', () => this.gone());
    stream?.on('close', () => this.gone());
  }

  /** @returns false when it wants no more until `drained` */
  write(bytes: Uint8Array): boolean {
    if (this.isGone || this.isEnding || bytes.length === 0) return true;
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.flush();
    return this.waitingBytes < PAUSE_BYTES;
  }

  /** Fulfilled when it wants more, or nothing ever again. */
  drained(): Promise<void> {
    if (this.waitingBytes < PAUSE_BYTES) return Promise.resolve();
    this.wanted ??= Promise.withResolvers();
    return this.wanted.promise;
  }

  pendingBytes(): number {
    return this.waitingBytes;
  }

  /** After what waits. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.flush();
  }

  /** The child is gone: nothing that waits will be read. */
  gone(): void {
    this.isGone = true;
    this.waiting = [];
    this.waitingBytes = 0;
    this.tell();
  }

  private flush(): void {
    if (this.isWriting || this.isGone) return;
    if (this.waiting.length === 0) {
      if (this.isEnding) this.stream?.end();
      return;
    }
    const bytes = this.nextChunk();
    this.isWriting = true;
    this.stream?.write(bytes, (error) => {
      this.isWriting = false;
      if (error || this.isGone) return this.gone();
      this.waitingBytes -= bytes.length;
      if (this.waitingBytes < PAUSE_BYTES / 2) this.tell();
      this.flush();
    });
  }

  private nextChunk(): Uint8Array {
    let count = 0;
    let length = 0;
    for (const bytes of this.waiting) {
      if (count > 0 && length + bytes.length > CHUNK_BYTES) break;
      length += bytes.length;
      count++;
    }
    const taken = this.waiting.splice(0, count);
    return taken.length === 1 && taken[0] ? taken[0] : joined(taken);
  }

  private tell(): void {
    this.wanted?.resolve();
    this.wanted = null;
  }
}
