import { TOKEN_LIFETIME_S } from '../protocol/limits.ts';
import type { HttpResponse, HttpTransport } from './connections.ts';
import type { CrowdStats } from './crowd-stats.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { ServiceTime } from './ledger/service-time.ts';
import type { Random } from './viewer-profile.ts';
import { parseToken } from './viewer-token.ts';

/** What all viewers of a crowd share. */
export interface SimulationContext {
  readonly http: HttpTransport;
  /** Origin of the service, for event streams. */
  readonly origin: string;
  readonly streamId: string;
  /** Random prefix of the viewers' identifiers, unique for each crowd. */
  readonly crowdId: string;
  readonly time: ServiceTime;
  /** Monotonic local clock, ms. */
  readonly localMs: () => number;
  readonly ledger: Ledger;
  readonly stats: CrowdStats;
  readonly random: Random;
  readonly isOver: () => boolean;
  /** Requests a token for this identifier. @throws ConnectionLost */
  readonly requestToken: (streamId: string, identifier: string) => Promise<HttpResponse>;
}

const RETRY_PAUSE_MS = 400;
const BANNED = /"banned":\s*true/;

/** The HTTP client of one viewer, with a token that is renewed in time. */
export class ViewerClient {
  /** Whether the viewer was banned (C-19). */
  isBanned = false;
  private token: Promise<string> | null = null;
  private renewAtMs = 0;

  constructor(
    private readonly number: number,
    private readonly context: SimulationContext,
  ) {}

  /** The Authorization header line. Gets or renews the token first when necessary. */
  async credential(): Promise<string> {
    const nowMs = this.context.localMs();
    if (!this.token || nowMs >= this.renewAtMs) {
      // Renew well before the expiry, at a random time that spreads the renewals.
      this.renewAtMs = nowMs + TOKEN_LIFETIME_S * 1_000 * (0.6 + 0.3 * this.context.random());
      this.token = this.fetchToken();
    }
    return this.token;
  }

  /** @returns null when the connection broke: whether the request took effect is unknown */
  async get(target: string): Promise<HttpResponse | null> {
    const credential = await this.credential();
    return this.send(() => this.context.http.request('GET', target, credential));
  }

  /** @returns null when the connection broke: whether the request took effect is unknown */
  async post(target: string, body?: string): Promise<HttpResponse | null> {
    const credential = await this.credential();
    return this.send(() => this.context.http.request('POST', target, credential, body));
  }

  /** Opens an event stream. @throws Error when the connection breaks or `signal` aborts it */
  async stream(target: string, lastEventId: number | null, signal: AbortSignal): Promise<Response> {
    const [, value] = (await this.credential()).trim().split(': ');
    const headers = new Headers({ Accept: 'text/event-stream', Authorization: value ?? '' });
    if (lastEventId !== null) headers.set('Last-Event-ID', String(lastEventId));
    const response = await fetch(this.context.origin + target, { headers, signal });
    this.context.stats.requestCompleted();
    if (response.status === 401) this.checkForBan(await response.text());
    return response;
  }

  /** Counts a failure and waits before a retry. A 401 makes the next request renew the token. */
  async pauseAfter(response: { status: number; retryAfterS: number } | null): Promise<void> {
    if (response) this.context.stats.requestFailed();
    if (response?.status === 401) this.renewAtMs = 0;
    await Bun.sleep(response?.retryAfterS ? response.retryAfterS * 1_000 : RETRY_PAUSE_MS);
  }

  private async fetchToken(): Promise<string> {
    const { requestToken, streamId, crowdId, ledger, isOver } = this.context;
    const identifier = `${crowdId}-${this.number}`;
    while (!isOver() && !this.isBanned) {
      const response = await this.send(() => requestToken(streamId, identifier));
      if (response?.status === 200) {
        const { credential, claims } = parseToken(response);
        ledger.externalViewers.addCrowdToken(claims);
        return credential;
      }
      await this.pauseAfter(response);
    }
    return ''; // The show is over or the viewer is banned: no request follows.
  }

  /** Records a ban if the body of a 401 says so. */
  private checkForBan(body: string): void {
    if (this.isBanned || !BANNED.test(body)) return;
    this.isBanned = true;
    this.context.stats.banned++;
  }

  private async send(request: () => Promise<HttpResponse>): Promise<HttpResponse | null> {
    const { stats } = this.context;
    try {
      const response = await request();
      stats.requestCompleted();
      if (response.status === 401) this.checkForBan(Buffer.from(response.body).toString());
      return response;
    } catch {
      stats.requestFailed();
      return null;
    }
  }
}
