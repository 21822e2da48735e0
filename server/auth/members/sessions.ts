import { LRUCache } from 'lru-cache';
import { isCrossOrigin } from '../../http/same-origin.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { shouldRecordUse, sessionExpiryMs } from './member-rules.ts';
import { csrfToken, hashSecret } from './one-time-secret.ts';
import { type SessionCookie, sessionCookie } from './session-cookie.ts';
import type { SessionRow, sessionProcedures } from './sessions-sql.ts';

type SessionStore = Pick<Calls<typeof sessionProcedures>, 'findSession' | 'touchSession'>;

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Where browsers reach the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
  /** Never goes back; `performance.now` unless it is said. */
  readonly monotonicMs?: () => number;
}

/** A session that a request came with. */
export interface ActiveSession extends SessionRow {
  /** What its page sends with writes. */
  readonly csrf: string;
}

// What another node ended or changed is known here after this long (U-7). One read serves the burst of
// requests of a page.
const CACHE_TTL_MS = 1_000;
const CACHE_MAX = 10_000;

/** Knows the sessions of requests by their cookies, each for a second from the database. */
export class Sessions {
  private readonly cache: LRUCache<string, SessionRow>;
  private readonly monotonicMs: () => number;
  private generation = 0;

  constructor(private readonly options: SessionsOptions) {
    this.monotonicMs = options.monotonicMs ?? (() => performance.now());
    this.cache = new LRUCache({
      max: CACHE_MAX,
      ttl: CACHE_TTL_MS,
      ttlResolution: 0,
      perf: { now: this.monotonicMs },
    });
  }

  /** The session whose cookie a request carries; null without one, and for one that has ended. */
  async findByRequest(request: Request): Promise<ActiveSession | null> {
    const secret = this.cookieFor(request).readSecret(request);
    if (secret === null) return null;
    const session = await this.find(hashSecret(secret));
    const nowMs = this.options.clock.nowMs();
    if (!session || nowMs >= sessionExpiryMs(session)) return null;
    return { ...(await this.recordUse(session, nowMs)), csrf: csrfToken(secret) };
  }

  /** The hash of the session that a request names, whether there is one or not. */
  hashFrom(request: Request): string | null {
    const secret = this.cookieFor(request).readSecret(request);
    return secret === null ? null : hashSecret(secret);
  }

  /** Whether a browser says that the page of another origin sent a request. */
  isCrossOrigin(request: Request): boolean {
    return isCrossOrigin(request, this.options.originOf(request));
  }

  cookieFor(request: Request): SessionCookie {
    return sessionCookie(this.options.originOf(request));
  }

  /** To be called when sessions or members were changed by this node, which must not remember them. */
  clearCache(): void {
    this.generation++;
    this.cache.clear();
  }

  private async find(hash: string): Promise<SessionRow | null> {
    const cached = this.cache.get(hash);
    if (cached) return cached;
    const generation = this.generation;
    const start = this.monotonicMs();
    const session = await this.options.store.findSession({ hash });
    // What was read before a change of this node may be as it was before it.
    if (session && generation === this.generation) this.cache.set(hash, session, { start });
    return session;
  }

  private async recordUse(session: SessionRow, nowMs: number): Promise<SessionRow> {
    if (!shouldRecordUse(session, nowMs)) return session;
    try {
      await this.options.store.touchSession({ hash: session.hash, nowMs });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // Who only reads can do without; the next request tries again.
      return session;
    }
    this.cache.delete(session.hash);
    return { ...session, seen: nowMs };
  }
}
