import type { Logger } from 'pino';
import type { Operation } from '../../protocol/operation.ts';
import { Histogram, type HistogramCounts } from '../platform/histogram.ts';

// A feed request is held for up to 1.25 s on purpose.
const DURATION_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Answers by status, and in how many seconds they began. */
export interface CountedAnswers {
  readonly statuses: readonly (readonly [status: number, count: number])[];
  readonly durations: HistogramCounts;
}

/** Counts the answers of one operation, without a lookup by label on the hot path. */
export class AnswerCounter {
  /** How many answers had the status that is the index. */
  readonly counts = new Float64Array(600);
  /** Seconds until the answer began. */
  readonly durations = new Histogram(DURATION_BOUNDS_S);

  constructor(readonly operation: Operation) {}

  /** @param startedMs when the request came, by `performance.now` */
  count(status: number, startedMs: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    this.durations.add((performance.now() - startedMs) / 1000);
  }

  /** What was counted, to be added elsewhere; it begins anew. */
  take(): CountedAnswers {
    const statuses = [...this.counts.entries()].filter(([, count]) => count > 0);
    this.counts.fill(0);
    return { statuses, durations: this.durations.take() };
  }

  /** Adds what another counter of the operation has counted. */
  addAll({ statuses, durations }: CountedAnswers): void {
    for (const [status, count] of statuses) {
      this.counts[status] = (this.counts[status] ?? 0) + count;
    }
    this.durations.addAll(durations);
  }

  /** Counts one that took no time worth measuring: to look at the clock takes longer. */
  countAtOnce(status: number): void {
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    this.durations.add(0);
  }
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

// When the database stalls every write is refused: a line for each would be most of the work.
const WARNING_EVERY_MS = 1_000;

interface Warned {
  atMs: number;
  /** Refusals since then. */
  unsaid: number;
}

/** Names requests. */
export class RequestIds {
  private next = 0;

  /** @param prefix makes ids unlike those that are made elsewhere */
  constructor(private readonly prefix: string) {}

  /** The id a proxy gave the request, or a new one. @param given `X-Request-Id`; null: there is none */
  of(given: string | null): string {
    return given !== null && REQUEST_ID.test(given)
      ? given
      : `${this.prefix}-${(this.next++).toString(36)}`;
  }
}

/** Logs and counts requests. Heartbeats and feed reads that succeed are counted alone. */
export class RequestLog {
  readonly counters: AnswerCounter[] = [];
  readonly ids: RequestIds;
  private readonly warned = new Map<Operation, Warned>();

  /**
   * @param prefix makes request ids of this process unlike those of another
   * @param nowMs never goes back
   */
  constructor(
    private readonly logger: Logger,
    prefix: string,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.ids = new RequestIds(prefix);
  }

  counterFor(operation: Operation): AnswerCounter {
    const counter = new AnswerCounter(operation);
    this.counters.push(counter);
    return counter;
  }

  /** The counter of an operation; null when it is not answered here. */
  counterOf(operation: Operation): AnswerCounter | null {
    return this.counters.find((counter) => counter.operation === operation) ?? null;
  }

  /** The id a proxy gave the request, or a new one. */
  requestId(request: Request): string {
    return this.ids.of(request.headers.get('x-request-id'));
  }

  /** A write in an account that was carried out; `member` is the uuid of who did it, if it was one. */
  done(
    operation: Operation,
    requestId: string,
    account: string,
    status: number,
    member: string | null = null,
  ): void {
    const by = member === null ? {} : { member };
    this.logger.info({ requestId, account, ...by, ...nameOf(operation), status }, 'done');
  }

  /**
   * A request that was told no. Of 5xx, one line a second for each operation; its `count` is that
   * of all since the line before.
   * @param count how many were told so, of whom this is one
   */
  refused(
    operation: Operation,
    requestId: string,
    status: number,
    error: unknown,
    count = 1,
  ): void {
    const said = { requestId, ...nameOf(operation), status, reason: reasonOf(error) };
    if (status < 500) {
      this.logger.debug(said, 'refused');
      return;
    }
    const nowMs = this.nowMs();
    const last = this.warned.get(operation);
    if (last && nowMs - last.atMs < WARNING_EVERY_MS) {
      last.unsaid += count;
      return;
    }
    this.logger.warn({ ...said, count: (last?.unsaid ?? 0) + count }, 'refused');
    this.warned.set(operation, { atMs: nowMs, unsaid: 0 });
  }

  broken(operation: Named, requestId: string, error: unknown): void {
    this.logger.error({ requestId, ...nameOf(operation), err: error }, 'failed');
  }
}

type Named = Pick<Operation, 'method' | 'path'>;

const nameOf = ({ method, path }: Named) => ({ method, path });

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
