import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Clock } from '../../platform/clock.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { csrfToken, hashSecret } from '../secrets.ts';
import { sessionExpiryMs, shouldRecordUse } from './member-rules.ts';
import { type StudioCookies, studioCookies } from './session-cookie.ts';
import type { SessionRow, sessionProcedures } from './sessions-sql.ts';

type SessionStore = Pick<
  Calls<typeof sessionProcedures>,
  'findSession' | 'findUnseenSession' | 'recordSessionUse'
>;

export interface SessionsOptions {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** The origin at which browsers reach the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
  /** Monotonic clock in ms; `runtime.monotonicMs` by default. */
  readonly monotonicMs?: () => number;
}

/** The valid session of a request. */
export interface ActiveSession extends SessionRow {
  /** The CSRF token that pages send with writes. */
  readonly csrf: string;
}

// Changes by other nodes take effect here after this time (U-7). One read serves a page's burst of
// requests.
const CACHE_TTL_MS = 1_000;
const CACHE_MAX = 10_000;
/** What pages of the studio request by cookie (`Sec-Fetch-Dest`): responses of `fetch`, event streams, downloads. */
const STUDIO_CONTENT: ReadonlySet<string> = new Set(['empty', 'document']);

/** Finds the sessions of requests by cookie. Caches each session of the database for a second. */
export class Sessions {
  private readonly cache: LRUCache<string, SessionRow>;
  /** Hashes of sessions that were found: requests with unknown ones must not delay theirs. */
  private readonly seen = new LRUCache<string, true>(atMostEntries(CACHE_MAX));
  private readonly monotonicMs: () => number;
  private generation = 0;

  constructor(private readonly options: SessionsOptions) {
    this.monotonicMs = options.monotonicMs ?? (() => runtime.monotonicMs());
    this.cache = new LRUCache({
      ...atMostEntries(CACHE_MAX),
      ttl: CACHE_TTL_MS,
      ttlResolution: 0,
      perf: { now: this.monotonicMs },
    });
  }

  /** The session of a request's cookie; null without a cookie or for an ended session. */
  async findByRequest(request: Request): Promise<ActiveSession | null> {
    const secret = this.secretOf(request);
    if (secret === null) return null;
    const session = await this.find(hashSecret(secret));
    const nowMs = this.options.clock.nowMs();
    if (!session || nowMs >= sessionExpiryMs(session)) return null;
    return { ...(await this.recordUse(session, nowMs)), csrf: csrfToken(secret) };
  }

  /** The hash of the secret in a request's cookie; the session may not exist. */
  hashFrom(request: Request): string | null {
    const secret = this.secretOf(request);
    return secret === null ? null : hashSecret(secret);
  }

  isCrossOrigin(request: Request): boolean {
    return isCrossOrigin(request, this.options.originOf(request));
  }

  cookiesFor(request: Request): StudioCookies {
    return studioCookies(this.options.originOf(request));
  }

  /** Must be called after this node changed sessions or members, so that it reads them again. */
  clearCache(): void {
    this.generation++;
    this.cache.clear();
  }

  private secretOf(request: Request): string | null {
    if (isOfShow(request) || isOfOtherSite(request)) return null;
    return this.cookiesFor(request).session.read(request);
  }

  private async find(hash: string): Promise<SessionRow | null> {
    const cached = this.cache.get(hash);
    if (cached) return cached;
    const generation = this.generation;
    const start = this.monotonicMs();
    const { store } = this.options;
    const session = await (this.seen.get(hash)
      ? store.findSession({ hash })
      : store.findUnseenSession({ hash }));
    if (session) this.seen.set(hash, true);
    // Do not cache a read that began before the cache was cleared: it may be stale.
    if (session && generation === this.generation) this.cache.set(hash, session, { start });
    return session;
  }

  private async recordUse(session: SessionRow, nowMs: number): Promise<SessionRow> {
    if (!shouldRecordUse(session, nowMs)) return session;
    try {
      await this.options.store.recordSessionUse({ hash: session.hash, nowMs });
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      // The request works without this record. The next request tries again.
      return session;
    }
    this.cache.delete(session.hash);
    return { ...session, seen: nowMs };
  }
}

/**
 * Whether the headers of a browser show that the content of a show sent a request. Its playlists and pictures can
 * name any address of this origin, and the browser of a member who watches adds the cookie.
 */
export function isOfShow({ url, headers }: Request): boolean {
  if (hasPathIn('/watch/', headers.get('referer') ?? '')) return true;
  const content = headers.get('sec-fetch-dest');
  return content !== null && !STUDIO_CONTENT.has(content) && hasPathIn('/studio/', url);
}

/** Whether a page of another origin sent a request in the background, where it can use up a member's requests. */
export function isOfOtherSite({ headers }: Request): boolean {
  return isSentByOtherOrigin(headers) && headers.get('sec-fetch-dest') !== 'document';
}

function isSentByOtherOrigin(headers: Headers): boolean {
  const site = headers.get('sec-fetch-site');
  // "same-site" includes other ports of this host, and cookies are shared between ports.
  return site !== null && site !== 'same-origin' && site !== 'none';
}

const hasPathIn = (folder: string, url: string): boolean =>
  URL.parse(url)?.pathname.startsWith(folder) ?? false;

/**
 * Whether the headers of a browser show that a page of another origin sent a request. Clients that are
 * not browsers send no such headers; they have no cookies of other clients.
 * @param origin the origin at which browsers reach the service, such as `https://live.example.org`
 */
export function isCrossOrigin(request: Request, origin: string): boolean {
  if (isSentByOtherOrigin(request.headers)) return true;
  const sender = request.headers.get('origin');
  return sender !== null && sender !== new URL(origin).origin && !isSameHost(sender, request);
}

// Behind a proxy that ends TLS, without a public URL, the scheme of the request is not the browser's.
function isSameHost(sender: string, request: Request): boolean {
  const host = URL.parse(sender)?.host;
  return host !== undefined && host === URL.parse(request.url)?.host;
}
