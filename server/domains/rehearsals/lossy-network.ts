import {
  ConnectionLost,
  type HttpResponse,
  type HttpTransport,
} from '../../../crowd/connections.ts';

export interface LossyNetworkOptions {
  /** Share of requests that are lost: half before they reach the service, half with the response. */
  readonly lossShare: number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** Waits until a client would time out. */
  readonly waitForTimeout: () => Promise<void>;
}

/** An HTTP transport that loses requests and responses at random. */
export class LossyNetwork implements HttpTransport {
  /** Requests that were lost so far. */
  lost = 0;

  constructor(
    private readonly net: HttpTransport,
    private readonly options: LossyNetworkOptions,
  ) {}

  async request(...request: Parameters<HttpTransport['request']>): Promise<HttpResponse> {
    const { lossShare, random, waitForTimeout } = this.options;
    const drawn = random();
    if (drawn >= lossShare) return this.net.request(...request);
    this.lost++;
    if (drawn >= lossShare / 2) await this.net.request(...request);
    else await waitForTimeout();
    throw new ConnectionLost('lost on purpose');
  }
}
