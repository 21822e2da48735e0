import type { WriteBuffer } from './write-buffer.ts';

/** What a connection is busy with, from a request to the end of its answer. */
export interface PendingResponse {
  /** Takes what the client sends; without it that is kept until the answer is over. */
  received?(bytes: Uint8Array): void;
  /** All that was sent has gone out. */
  drained?(): void;
  /** The client is gone. */
  closed(): void;
}

/** What only a connection has that waits for something: its answer, the rest of a head, its end. */
export class ConnectionState {
  task: PendingResponse | null = null;
  /** What came and is not used yet: the begin of a head, or what follows a request with a task. */
  kept: Buffer | null = null;
  unsent: WriteBuffer | null = null;
  isPaused = false;
  /** Too much came behind a request: it ends with its answer (G-31). */
  isLast = false;
  /** The client is gone, or is told no more. */
  isEnded = false;
}

/** Of all that wait for a request. */
export const IDLE: Readonly<ConnectionState> = new ConnectionState();
