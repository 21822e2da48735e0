import { createHmac } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';
import { type ViewerClaims, viewerClaimsSchema } from '../../../protocol/tokens.ts';
import { BANNED } from '../../domains/moderation/banned.ts';
import type { ChatRooms } from '../../domains/moderation/chat-rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import { DomainError } from '../../platform/errors.ts';
import { Batch } from '../../storage/sql/batch.ts';
import { type Admission, admissionOf } from './admission.ts';
import type { TokenSeat } from './checked-viewer.ts';
import type { Keyring } from './keyring.ts';
import { SeatLeases, type SeatStore } from './seat-leases.ts';
import { TokenCache, TOKEN_CHARS_MAX } from './seen-tokens.ts';
import { signToken } from './sign-token.ts';
import type { StreamViewer } from './tokens-sql.ts';

/** A viewer whose token was checked. */
export interface Viewer {
  /** Opaque id: the `sub` of the token. */
  readonly id: string;
  readonly streamId: string;
  readonly seat: number;
  /** When the token expires, Unix ms. */
  readonly expiresMs: number;
}

/** A viewer, with the token that says so. */
export interface ViewerWithToken extends Viewer {
  readonly token: string;
}

export interface ViewerTokensOptions {
  readonly store: SeatStore;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly issuer: string;
  readonly audience: string;
  /** Secret that makes viewer ids opaque. */
  readonly viewerSecret: string;
  /** How many verified tokens are remembered. */
  readonly cacheSize: number;
  /** Who was sent out of a stream gets no token for it. */
  readonly bans: Pick<ChatRooms, 'isBanned'>;
}

const SUBJECT_CHARS = 22;
// The front checks a token that it does not know, and then whoever says why it is refused: without
// this, what is forged would cost two checks. At most 2 MB.
const FORGED_CACHE_MAX = 1_024;
// A rush comes in batches; more in one statement would hold up what shares the commit.
const SEAT_BATCH_MAX = 1_000;
/** to find seats, lease a block and give them is three calls of the database. */
const SEAT_DEADLINE_MS = 850;

/** Issues and checks viewer tokens (SPEC T): EdDSA JWTs that carry the viewer's seat. */
export class ViewerTokens {
  private readonly cache: TokenCache;
  private readonly forgedCache = new LRUCache<string, true>({ max: FORGED_CACHE_MAX });
  private readonly seats: Batch<StreamViewer, number | DomainError>;

  constructor(private readonly options: ViewerTokensOptions) {
    this.cache = new TokenCache(options.cacheSize, () => options.clock.nowMs());
    const leases = new SeatLeases(options.store);
    this.seats = new Batch((viewers) => leases.assign(viewers), SEAT_BATCH_MAX, SEAT_DEADLINE_MS);
  }

  /**
   * A new token for this viewer in this stream.
   * @throws DomainError `not-found` when there is no such stream, `unauthorized` when they are banned
   */
  async issue(streamId: string, identifier: string): Promise<string> {
    const { keyring, clock, issuer, audience, bans } = this.options;
    const viewer = this.viewerId(streamId, identifier);
    const seat = await this.seats.add({ streamId, viewer });
    if (seat instanceof DomainError) throw seat;
    if (bans.isBanned({ streamId, seat })) {
      throw new DomainError('unauthorized', BANNED.detail, BANNED.members);
    }
    const nowMs = clock.nowMs();
    const { kid, privateKey } = keyring.signingKey(nowMs);
    const issuedAt = Math.floor(nowMs / 1000);
    const expiresAt = issuedAt + TOKEN_LIFETIME_S;
    const token = signToken(kid, privateKey, {
      iss: issuer,
      aud: audience,
      stream_id: streamId,
      iat: issuedAt,
      exp: expiresAt,
      seat,
      sub: viewer,
    });
    // Ours, with these claims and a key that outlives it: a check would come to the same.
    this.cache.put(token, { streamId, seat, expiresMs: expiresAt * 1000 });
    return token;
  }

  /** The viewer of a token that was checked before; it may have expired since. */
  cached(token: string): ViewerWithToken | null {
    return this.cache.get(token);
  }

  /** As `seen`, of the token in these bytes, for as long as they do not change. */
  find(bytes: Buffer, from: number, to: number): ViewerWithToken | null {
    return this.cache.find(bytes, from, to);
  }

  /** The viewer of a token, at once when it was checked before; null when it must be checked. */
  cachedValid(token: string): ViewerWithToken | null {
    return this.cache.getValid(token);
  }

  /** The viewer of a token, or null when the token is not one of ours that is valid now. */
  async check(token: string): Promise<ViewerWithToken | null> {
    const known = this.cachedValid(token);
    if (known) return known;
    const viewer = await this.verify(token);
    if (viewer) this.cache.put(token, viewer);
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

  /** Drops expired tokens. */
  removeExpired(): void {
    this.cache.removeExpired();
  }

  /** How many checked tokens are remembered. */
  cacheSize(): number {
    return this.cache.size;
  }

  private async verify(token: string): Promise<ViewerWithToken | null> {
    const { keyring, clock, issuer, audience } = this.options;
    if (token.length > TOKEN_CHARS_MAX || this.forgedCache.get(token)) return null;
    const nowMs = clock.nowMs();
    try {
      const { kid } = decodeProtectedHeader(token);
      const key = typeof kid === 'string' ? keyring.verificationKey(kid, nowMs) : undefined;
      if (!key) return null;
      const { payload } = await jwtVerify(token, key, {
        algorithms: ['EdDSA'],
        issuer,
        audience,
        currentDate: new Date(nowMs),
      });
      return viewerFromClaims(token, viewerClaimsSchema.parse(payload));
    } catch (error) {
      // Nothing makes a signature right later, as the turn of a clock does a token that is expired.
      if (error instanceof errors.JWSSignatureVerificationFailed) this.forgedCache.set(token, true);
      return null;
    }
  }

  /** Opaque and different in every stream; the identifier itself is kept nowhere. */
  private viewerId(streamId: string, identifier: string): string {
    return createHmac('sha256', this.options.viewerSecret)
      .update(`${streamId}\0${identifier}`)
      .digest('base64url')
      .slice(0, SUBJECT_CHARS);
  }
}

function viewerFromClaims(token: string, { sub, stream_id, seat, exp }: ViewerClaims): ViewerWithToken {
  return { token, id: sub, streamId: stream_id, seat, expiresMs: exp * 1000 };
}
