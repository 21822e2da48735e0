import type { Operation } from '../../../protocol/operation.ts';
import { ResponseCounter, type RequestIds } from '../../http/request-log.ts';
import type { Unavailable } from '../../platform/errors.ts';
import type { FrontOperation } from '../gateway-backend.ts';
import type { Refused } from './messages.ts';

/** What a thread answers of one operation, counted until the main thread is told. */
export class ThreadOperation {
  readonly counter: ResponseCounter;
  private noted: Refused | null = null;

  constructor(
    operation: Operation,
    private readonly allow: string,
    private readonly ids: RequestIds,
  ) {
    this.counter = new ResponseCounter(operation);
  }

  /** As a front takes it. */
  get ofFront(): FrontOperation {
    const { counter, allow } = this;
    return { counter, allow, refused: (given, error) => this.note(this.ids.resolve(given), error) };
  }

  /** Who was told 503 since this was asked before; null: nobody. */
  takeRefused(): Refused | null {
    const { noted } = this;
    this.noted = null;
    return noted;
  }

  private note(requestId: string, { message }: Unavailable): string {
    if (this.noted) this.noted.count++;
    else this.noted = { count: 1, requestId, reason: message };
    return requestId;
  }
}
