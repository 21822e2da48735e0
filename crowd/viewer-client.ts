import { TOKEN_LIFETIME_S } from '../protocol/limits.ts';
import type { HttpAnswer, Net } from './connections.ts';
import type { CrowdStats } from './crowd-stats.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { ServiceTime } from './ledger/service-time.ts';
import type { Random } from './viewer-profile.ts';
import { tokenIn } from './viewer-token.ts';

/** What a viewer lives in. */
export interface SimulationContext {
  readonly http: Net;
  /** Where the service is, for event streams. */
  readonly origin: string;
  readonly streamId: string;
  /** Begins the identifiers of the crowd. Nobody knows it, so nobody else is taken for one of them. */
  readonly crowdId: string;
  readonly time: ServiceTime;
  /** Our clock, ms; it only runs forward. */
  readonly localMs: () => number;
  readonly ledger: Ledger;
  readonly stats: CrowdStats;
  readonly random: Random;
  readonly isOver: () => boolean;
  /** Asks for a token of this identifier. @throws ConnectionLost */
  readonly askForToken: (streamId: string, identifier: string) => Promise<HttpAnswer>;
}

const PAUSE_MS = 400;
const BANNED = /"banned":\s*true/;

/** The requests of one viewer, with a token that is renewed in time. */
export class ViewerClient {
  /** The show wants it no more (C-19). */
  isBanned = false;
  private token: Promise<string> | null = null;
  private renewMs = 0;

  constructor(
    private readonly number: number,
    private readonly world: SimulationContext,
  ) {}

  /** The header line with a valid token, after getting one where it is needed. */
  async credential(): Promise<string> {
    const nowMs = this.world.localMs();
    if (!this.token || nowMs >= this.renewMs) {
      // Not all at once, and well before it expires.
      this.renewMs = nowMs + TOKEN_LIFETIME_S * 1_000 * (0.6 + 0.3 * this.world.random());
      this.token = this.newToken();
    }
    return this.token;
  }

  /** @returns null when the connection broke: nobody knows what became of the request */
  async get(target: string): Promise<HttpAnswer | null> {
    const credential = await this.credential();
    return this.ask(() => this.world.http.request('GET', target, credential));
  }

  /** @returns null when the connection broke: nobody knows what became of the request */
  async post(target: string, body?: string): Promise<HttpAnswer | null> {
    const credential = await this.credential();
    return this.ask(() => this.world.http.request('POST', target, credential, body));
  }

  /** Opens an event stream. @throws Error when the connection breaks or `signal` says so */
  async stream(target: string, lastEventId: number | null, signal: AbortSignal): Promise<Response> {
    const [, value] = (await this.credential()).trim().split(': ');
    const headers = new Headers({ Accept: 'text/event-stream', Authorization: value ?? '' });
    if (lastEventId !== null) headers.set('Last-Event-ID', String(lastEventId));
    const response = await fetch(this.world.origin + target, { headers, signal });
    this.world.stats.answered();
    if (response.status === 401) this.hearRefusal(await response.text());
    return response;
  }

  /** After an answer that is no use: waits, and gets a new token where that is what is missing. */
  async pauseAfter(answer: { status: number; retryAfterS: number } | null): Promise<void> {
    if (answer) this.world.stats.troubled();
    if (answer?.status === 401) this.renewMs = 0;
    await Bun.sleep(answer?.retryAfterS ? answer.retryAfterS * 1_000 : PAUSE_MS);
  }

  private async newToken(): Promise<string> {
    const { askForToken, streamId, crowdId, ledger, isOver } = this.world;
    const identifier = `${crowdId}-${this.number}`;
    while (!isOver() && !this.isBanned) {
      const answer = await this.ask(() => askForToken(streamId, identifier));
      if (answer?.status === 200) {
        const { credential, claims } = tokenIn(answer);
        ledger.others.addOurs(claims);
        return credential;
      }
      await this.pauseAfter(answer);
    }
    return '';
  }

  /** Whether a refusal says that this viewer was sent away. */
  private hearRefusal(body: string): void {
    if (this.isBanned || !BANNED.test(body)) return;
    this.isBanned = true;
    this.world.stats.banned++;
  }

  private async ask(request: () => Promise<HttpAnswer>): Promise<HttpAnswer | null> {
    const { stats } = this.world;
    try {
      const answer = await request();
      stats.answered();
      if (answer.status === 401) this.hearRefusal(Buffer.from(answer.body).toString());
      return answer;
    } catch {
      stats.troubled();
      return null;
    }
  }
}
