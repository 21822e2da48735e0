import type { Holder } from '../feed/feed-log.ts';
import type { AnswerCounter } from '../http/request-log.ts';
import type { KnownViewer } from '../tokens/viewer-tokens.ts';
import type { AnswerBytes } from './answer-bytes.ts';
import type { Connection, Task } from './connection.ts';
import type { Shape } from './shape.ts';

/** A read of an interval that waits: until it is sealed, or for the record. */
export class HeldRead implements Task, Holder {
  private readonly startedMs = performance.now();

  constructor(
    private readonly connection: Connection,
    private readonly bytes: AnswerBytes,
    private readonly counter: AnswerCounter,
    private readonly shape: Shape,
    private readonly viewer: KnownViewer,
    private readonly interval: number,
  ) {}

  sealed(body: Uint8Array): void {
    this.counter.count(200, this.startedMs);
    this.connection.answer(this.bytes.sealed(this.interval, body));
  }

  /** Its place among those that wait is free when the interval is sealed, a second later at most. */
  closed(): void {}

  /** The inner server says why: asked now, it has the same reason. */
  refused(): void {
    this.connection.relay(this.shape.requestOf(this.interval, this.viewer.token));
  }
}
