import {
  IntervalStream,
  type IntervalStreamOptions,
  type StreamSink,
} from '../realtime/feed/interval-stream.ts';
import type { Connection } from './connection.ts';
import type { PendingResponse } from './connection-state.ts';
import { type Chunks, LAST_CHUNK } from './response-bytes.ts';

/** An event stream straight into a connection. */
export class StreamTask implements PendingResponse, StreamSink {
  readonly stream: IntervalStream;

  constructor(
    private readonly connection: Connection,
    private readonly chunks: Chunks,
    options: Omit<IntervalStreamOptions, 'sink'>,
  ) {
    this.stream = new IntervalStream({ ...options, sink: this });
  }

  /** @param opening the head of the answer, and what an event stream begins with */
  begin(opening: Uint8Array): void {
    this.connection.begin(this);
    this.connection.send(opening);
    void this.stream.roomFreed();
  }

  write(bytes: Uint8Array): void {
    this.connection.send(this.chunks.of(bytes));
  }

  unsentBytes(): number {
    return this.connection.unsentBytes();
  }

  end(): void {
    this.connection.send(LAST_CHUNK);
    this.connection.done();
  }

  drained(): void {
    void this.stream.roomFreed();
  }

  closed(): void {
    this.stream.gone();
  }
}
