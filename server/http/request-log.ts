import type { Logger } from 'pino';
import type { Operation } from '../../protocol/operation.ts';
import { messageOf, type Unavailable } from '../platform/errors.ts';
import { LogLimiter } from '../platform/log-limiter.ts';
import { ResponseCounter } from '../platform/response-counter.ts';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

export class RequestIds {
  private next = 0;

  /** @param prefix distinguishes the ids of this process from those of others */
  constructor(private readonly prefix: string) {}

  /** The id that the request carries, if it is valid, or a new one. @param header `X-Request-Id` or null */
  resolve(header: string | null): string {
    return header !== null && REQUEST_ID.test(header)
      ? header
      : `${this.prefix}-${(this.next++).toString(36)}`;
  }
}

/** Logs and counts requests. Successful heartbeats and feed reads are counted only. */
export class RequestLog {
  readonly counters: ResponseCounter[] = [];
  readonly ids: RequestIds;
  private readonly warnings: LogLimiter<Operation>;
  private readonly brokenOff: LogLimiter<Operation>;

  /**
   * @param prefix distinguishes the request ids of this process from those of others
   * @param nowMs monotonic clock in ms
   */
  constructor(
    private readonly logger: Logger,
    prefix: string,
    nowMs?: () => number,
  ) {
    this.ids = new RequestIds(prefix);
    this.warnings = new LogLimiter(nowMs);
    this.brokenOff = new LogLimiter(nowMs);
  }

  createCounter(operation: Operation): ResponseCounter {
    const counter = new ResponseCounter(operation);
    this.counters.push(counter);
    return counter;
  }

  /** The counter of an operation; null when this process does not serve it. */
  findCounter(operation: Operation): ResponseCounter | null {
    return this.counters.find((counter) => counter.operation === operation) ?? null;
  }

  /** The id that the request carries, or a new one. */
  requestId(request: Request): string {
    return this.ids.resolve(request.headers.get('x-request-id'));
  }

  /** Logs a successful write in an account. @param member uuid of the acting member; null: a token */
  logWrite(
    operation: Operation,
    requestId: string,
    account: string,
    status: number,
    member: string | null = null,
  ): void {
    const by = member === null ? {} : { member };
    this.logger.info(
      { requestId, account, ...by, ...operationName(operation), status },
      'request completed',
    );
  }

  /**
   * Logs a rejected request. A 5xx is logged once a second for each operation, with the `count` of all
   * since the previous line.
   * @param count number of rejected requests that this call reports
   */
  logRejected(
    operation: Operation,
    requestId: string,
    status: number,
    error: unknown,
    count = 1,
  ): void {
    const fields = { requestId, ...operationName(operation), status, reason: messageOf(error) };
    if (status < 500) {
      this.logger.debug(fields, 'request rejected');
      return;
    }
    const total = this.warnings.countToLog(operation, count);
    if (total > 0) this.logger.warn({ ...fields, count: total }, 'request rejected');
  }

  /** Logs a response whose body broke off because a backend is unavailable, once a second as `logRejected`. */
  logBrokenOff(operation: Operation, requestId: string, error: Unavailable): void {
    const count = this.brokenOff.countToLog(operation, 1);
    const fields = { requestId, ...operationName(operation), reason: error.message, count };
    if (count > 0) this.logger.warn(fields, 'response broken off');
  }

  logDefect(operation: OperationName, requestId: string, error: unknown): void {
    this.logger.error({ requestId, ...operationName(operation), err: error }, 'request failed');
  }
}

type OperationName = Pick<Operation, 'method' | 'path'>;

const operationName = ({ method, path }: OperationName) => ({ method, path });
