import { createHmac } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';
import { type ViewerClaims, viewerClaimsSchema } from '../../../protocol/tokens.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import type { MetricDefinition } from '../../platform/metrics.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { Batch } from '../../storage/sql/batch.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { Credentials } from '../credentials.ts';
import type { RandomBytes } from '../secrets.ts';
import {
  type Admission,
  admissionOf,
  BANNED,
  type BanList,
  TOKEN_CHARS_MAX,
  TokenCache,
  type TokenSeat,
  type ViewerWithToken,
} from './checked-viewers.ts';
import { Keyring } from './keyring.ts';
import { SeatLeases, type SeatStore } from './seat-leases.ts';
import { signToken } from './sign-token.ts';
import { type TokenRouteDeps, tokenHandlers } from './token-routes.ts';
import type { StreamViewer, tokenProcedures } from './tokens-sql.ts';

export interface ViewerTokensOptions {
  readonly store: SeatStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly issuer: string;
  /** Secret that makes viewer ids opaque. */
  readonly viewerSecret: string;
  /** Capacity of the cache of verified tokens. */
  readonly cacheSize: number;
  /** Banned viewers get no token. */
  readonly bans: BanList;
  /** Called when half of the seats of a stream are taken. */
  readonly onHalfFull?: (streamId: string) => void;
}

/**
 * The end of a token: 64 bytes in base64url, whose last character has two bits (RFC 4648, 3.5). Other
 * spellings of these bytes would be verified and cached one by one.
 */
const CANONICAL_SIGNATURE = /\.[A-Za-z0-9_-]{85}[AQgw]$/;
const AUDIENCE = 'fourbeat';
const SUBJECT_CHARS = 22;
// The gateway verifies an unknown token, and the origin server verifies it again to reject it. This
// cache saves the second verification of a forged token. At most 2 MB.
const FORGED_CACHE_MAX = 1_024;
// A larger batch in one statement would delay the other writes of the commit.
const SEAT_BATCH_MAX = 1_000;
// an assignment takes up to three database calls: find, lease and take.
const SEAT_DEADLINE_MS = 850;

/** Issues and checks viewer tokens (SPEC T): EdDSA JWTs that carry the viewer's seat. */
export class ViewerTokens {
  /** The verified tokens, which may have expired. */
  readonly cache: TokenCache;
  private readonly forgedCache = new LRUCache<string, true>({ max: FORGED_CACHE_MAX });
  private readonly leases: SeatLeases;
  private readonly seats: Batch<StreamViewer, number | Error>;

  constructor(private readonly options: ViewerTokensOptions) {
    this.cache = new TokenCache(options.cacheSize, () => options.clock.nowMs());
    this.leases = new SeatLeases(options.store, options.onHalfFull);
    this.seats = new Batch(
      (viewers) => this.leases.assign(viewers),
      SEAT_BATCH_MAX,
      SEAT_DEADLINE_MS,
    );
  }

  /**
   * Issues a token to a viewer of a stream.
   * @param identifier names the viewer; the same identifier gets the same seat
   * @throws DomainError `not-found` for an unknown stream, `conflict` for a full one, `unauthorized`
   *   for a banned viewer
   */
  async issue(streamId: string, identifier: string): Promise<string> {
    const { keyring, clock, issuer, bans } = this.options;
    const viewer = this.viewerId(streamId, identifier);
    const seat = await this.seats.add({ streamId, viewer });
    if (seat instanceof Error) throw seat;
    if (bans.isBanned({ streamId, seat })) {
      throw new DomainError('unauthorized', BANNED.detail, BANNED.members);
    }
    const nowMs = clock.nowMs();
    const { kid, privateKey } = keyring.signingKey(nowMs);
    const issuedAt = Math.floor(nowMs / 1000);
    const expiresAt = issuedAt + TOKEN_LIFETIME_S;
    const token = signToken(kid, privateKey, {
      iss: issuer,
      aud: AUDIENCE,
      stream_id: streamId,
      iat: issuedAt,
      exp: expiresAt,
      seat,
      sub: viewer,
    });
    // Verification would succeed with the same claims, so cache the result now.
    this.cache.put(token, { streamId, seat, expiresMs: expiresAt * 1000 });
    return token;
  }

  /** The share of taken seats; no label names a stream. */
  get metrics(): MetricDefinition[] {
    return [
      {
        kind: 'gauge',
        name: 'fourbeat_seats_used_ratio',
        help: 'Share of taken seats in the fullest stream with new viewers on this node in the last 10 minutes.',
        read: () => [[this.leases.usedRatio()]],
      },
    ];
  }

  /** Verifies a token. Null unless this service issued it; it may have expired (`admission`). */
  async check(token: string): Promise<ViewerWithToken | null> {
    const cached = this.cache.getValid(token);
    if (cached) return cached;
    const viewer = await this.verify(token);
    if (viewer && viewer.expiresMs > this.options.clock.nowMs()) this.cache.put(token, viewer);
    return viewer;
  }

  /**
   * Whether a viewer whose token was verified may use a stream now.
   * @param streamId in any case; null: the request names no stream
   */
  admission(viewer: TokenSeat, streamId: string | null): Admission {
    const { clock, bans } = this.options;
    return admissionOf(viewer, streamId?.toLowerCase() ?? null, clock.nowMs(), bans);
  }

  private async verify(token: string): Promise<ViewerWithToken | null> {
    const { keyring, clock, issuer } = this.options;
    if (token.length > TOKEN_CHARS_MAX || !CANONICAL_SIGNATURE.test(token)) return null;
    if (this.forgedCache.get(token)) return null;
    const nowMs = clock.nowMs();
    const [header = ''] = token.split('.', 1);
    const key = keyring.verificationKey(header, nowMs);
    if (!key) return null;
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['EdDSA'],
        issuer,
        audience: AUDIENCE,
        currentDate: new Date(nowMs),
      });
      return viewerFromClaims(token, viewerClaimsSchema.parse(payload));
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        const { data } = viewerClaimsSchema.safeParse(error.payload);
        return data ? viewerFromClaims(token, data) : null;
      }
      // Cache only signature failures. Other verdicts change with the clock or a key rotation.
      if (error instanceof errors.JWSSignatureVerificationFailed) this.forgedCache.set(token, true);
      return null;
    }
  }

  /** The opaque id of a viewer, different in every stream. The identifier itself is not stored. */
  private viewerId(streamId: string, identifier: string): string {
    return createHmac('sha256', this.options.viewerSecret)
      .update(`${streamId}\0${identifier}`)
      .digest('base64url')
      .slice(0, SUBJECT_CHARS);
  }
}

export interface ViewerTokensDeps {
  readonly store: Calls<typeof tokenProcedures> & TokenRouteDeps['store'];
  readonly clock: Clock;
  readonly bans: BanList;
  /** The public origin of the service: the `iss` of tokens. */
  readonly issuer: string;
  readonly cacheSize: number;
  readonly randomBytes: RandomBytes;
  readonly rate: RateLimiter;
  readonly access: TokenRouteDeps['access'];
  /** Called when half of the seats of a stream are taken. */
  readonly onHalfFull: (streamId: string) => void;
}

const VIEWER_SECRET_BYTES = 32;

/**
 * Viewer tokens and their signing keys. Loads the keys from the database. `handlers` is a
 * function of the credentials, because those need `tokens` first.
 */
export async function createViewerTokens(deps: ViewerTokensDeps) {
  const { store, clock, bans, issuer, cacheSize } = deps;
  const keyring = new Keyring(store);
  await keyring.refresh(clock.nowMs());
  const offered = Buffer.from(deps.randomBytes(VIEWER_SECRET_BYTES)).toString('base64url');
  const viewerSecret = await store.keepSecret({ name: 'viewer', offered });
  const tokens = new ViewerTokens({
    ...{ store, keyring, clock, issuer, viewerSecret, cacheSize, bans },
    onHalfFull: deps.onHalfFull,
  });
  return {
    tokens,
    keyring,
    handlers: (credentials: Credentials) =>
      tokenHandlers({ ...deps, credentials, viewerTokens: tokens, keyring }),
    /** Periodic work, every 10 s: removes expired tokens and rotates signing keys. */
    upkeep: (): Promise<void> => {
      tokens.cache.removeExpired();
      return keyring.refresh(clock.nowMs());
    },
  };
}

function viewerFromClaims(
  token: string,
  { sub, stream_id, seat, exp }: ViewerClaims,
): ViewerWithToken {
  return { token, id: sub, streamId: stream_id, seat, expiresMs: exp * 1000 };
}
