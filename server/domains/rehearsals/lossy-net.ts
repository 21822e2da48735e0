import { ConnectionLost, type HttpAnswer, type Net } from '../../../crowd/connections.ts';

export interface LossyNetOptions {
  /** Share of the requests that are lost: half of them on the way there, the others on the way back. */
  readonly lossShare: number;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Waits as long as a client does before it gives a request up. */
  readonly giveUp: () => Promise<void>;
}

/** A way to a service on which requests are lost, and answers to requests that came. */
export class LossyNet implements Net {
  /** Requests that were lost so far. */
  lost = 0;

  constructor(
    private readonly net: Net,
    private readonly options: LossyNetOptions,
  ) {}

  async request(...request: Parameters<Net['request']>): Promise<HttpAnswer> {
    const { lossShare, random, giveUp } = this.options;
    const drawn = random();
    if (drawn >= lossShare) return this.net.request(...request);
    this.lost++;
    if (drawn >= lossShare / 2) await this.net.request(...request);
    else await giveUp();
    throw new ConnectionLost('lost on purpose');
  }
}
