import type { IntervalWaiter } from '../realtime/feed/feed-log.ts';
import type { Connection } from './connection.ts';
import type { PendingResponse } from './connection-state.ts';
import type { Refusals } from './error-responses.ts';
import type { FrontOperation } from './gateway-backend.ts';
import type { RequestTemplate } from './request-template.ts';
import type { AnswerBytes } from './response-bytes.ts';

/** What held reads share. */
export interface HeldReads {
  readonly bytes: AnswerBytes;
  readonly refusals: Refusals;
  readonly feed: FrontOperation;
}

/** A read of an interval that waits: until it is sealed, or for the database. */
export class LongPoll implements PendingResponse, IntervalWaiter {
  private readonly startedMs = performance.now();

  constructor(
    private readonly connection: Connection,
    private readonly shared: HeldReads,
    private readonly shape: RequestTemplate,
    private readonly token: string,
    private readonly interval: number,
  ) {}

  sealed(body: Uint8Array): void {
    const { feed, bytes } = this.shared;
    feed.counter.count(200, this.startedMs);
    this.connection.answer(bytes.sealed(this.interval, body));
  }

  /** Its place among those that wait is free when the interval is sealed, a second later at most. */
  closed(): void {}

  refused(error: unknown): void {
    const { connection, shape, startedMs } = this;
    if (connection.isEnded) return;
    const { refusals, feed } = this.shared;
    if (refusals.tell(connection, shape, feed, error, startedMs)) return;
    connection.relay(shape.requestOf(this.interval, this.token));
  }
}
