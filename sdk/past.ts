import { BackOff } from './back-off.ts';
import type { Calls } from './calls.ts';
import type { Environment } from './environment.ts';
import { asTrouble } from './errors.ts';
import type { EventsInterval } from './types.ts';

const AT_ONCE_MAX = 8;
// Faster than a picture at twice its pace needs them.
const APART_MS = 100;

/** Asks for intervals that the feed did not bring. */
export class Past {
  private readonly backOff: BackOff;
  private readonly underWay = new Set<number>();
  /** On the monotonic clock; nothing is asked before it. */
  private notBeforeMs = 0;

  /** @param onInterval hears of each that was asked for and came, in any order */
  constructor(
    private readonly env: Environment,
    private readonly calls: Pick<Calls, 'interval'>,
    private readonly onInterval: (interval: EventsInterval) => void,
  ) {
    this.backOff = new BackOff(env.random);
  }

  /** @returns whether it is on its way; if not, it is to be asked for again in a moment */
  ask(interval: number): boolean {
    if (this.underWay.has(interval)) return true;
    const nowMs = this.env.monotonicMs();
    if (this.underWay.size >= AT_ONCE_MAX || nowMs < this.notBeforeMs) return false;
    this.notBeforeMs = nowMs + APART_MS;
    void this.read(interval);
    return true;
  }

  private async read(interval: number): Promise<void> {
    this.underWay.add(interval);
    try {
      const answer = await this.calls.interval(interval);
      this.backOff.worked();
      this.underWay.delete(interval);
      this.onInterval(answer);
    } catch (thrown) {
      this.underWay.delete(interval);
      const waitMs = this.backOff.nextMs(asTrouble(thrown).retryAfterMs);
      this.notBeforeMs = this.env.monotonicMs() + waitMs;
    }
  }
}
