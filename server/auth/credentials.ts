import type { User } from '../../protocol/accounts.ts';
import { CSRF_HEADER, type MemberRole } from '../../protocol/members.ts';
import type { Route } from '../http/route.ts';
import { DomainError } from '../platform/errors.ts';
import type { RateLimiter } from '../platform/rate-limiter.ts';
import type { TokenOwner } from './accounts/accounts-sql.ts';
import type { ServiceTokens } from './accounts/service-tokens.ts';
import type { ActiveSession, Sessions } from './members/sessions.ts';
import { sameHash } from './secrets.ts';
import {
  type Admission,
  BANNED,
  type BanList,
  type TokenCache,
  type Viewer,
  type ViewerWithToken,
} from './viewer-tokens/checked-viewers.ts';

/** The caller of an operation that needs no credential. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'service'; readonly owner: TokenOwner }
  | { readonly kind: 'viewer'; readonly viewer: Viewer };

/** Who acts in the studio: a program with a service token, or a member. */
export type Actor =
  | { readonly kind: 'token' }
  | {
      readonly kind: 'member';
      readonly uuid: string;
      readonly name: string;
      readonly role: MemberRole;
    };

/** The uuid of the member who acts; null: a program. */
export const memberUuid = (actor: Actor) => (actor.kind === 'member' ? actor.uuid : null);

/** An authorized caller of the studio and its account. */
export interface StudioCaller {
  readonly user: User;
  readonly actor: Actor;
}

/** The viewer tokens, as far as a credential check needs them. */
interface CheckedTokens {
  readonly cache: Pick<TokenCache, 'get'>;
  /** Verifies a token. Null unless this service issued it; it may have expired. */
  check(token: string): Promise<ViewerWithToken | null>;
  admission(viewer: Viewer, streamId: string | null): Admission;
}

/** The presenter keys, as far as a credential check needs them. */
interface PresentedKeys {
  /** The stream that a key opens, or null for an unknown key. */
  findStream(key: string): Promise<{ streamId: string; producer: string } | null>;
}

const SERVICE_TOKEN_ACTOR: Actor = { kind: 'token' };
const ANONYMOUS: Caller = { kind: 'anonymous' };
const CREDENTIAL = /^(bearer|token|presenter) +([\x21-\x7e]+)$/i;

/**
 * Checks the credentials of requests (SPEC A, T). Every method throws DomainError `unauthorized` for a
 * missing, invalid or insufficient credential, and RateLimited when an address failed too often.
 */
export class Credentials {
  constructor(
    private readonly viewerTokens: CheckedTokens,
    private readonly serviceTokens: ServiceTokens,
    private readonly sessions: Sessions,
    private readonly presenterKeys: PresentedKeys,
    /** Limits failed authentications of each address. */
    private readonly failures: RateLimiter,
    private readonly bans: BanList,
  ) {}

  /**
   * The viewer of a request. Synchronous when the token is cached.
   * @param streamId the stream that the token must be of; null: the body names the stream
   */
  viewer(request: Request, route: Route, streamId: string | null): Viewer | Promise<Viewer> {
    const header = request.headers.get('authorization');
    const cached = header?.startsWith('Bearer ')
      ? this.viewerTokens.cache.get(header.slice(7))
      : null;
    if (cached && this.viewerTokens.admission(cached, streamId) === 'admitted') return cached;
    return this.checkViewer(header, request, route, streamId);
  }

  /** Rejects a viewer who was banned after `viewer` returned, while the body was read. */
  requireNotBanned(viewer: Viewer): void {
    if (this.bans.isBanned(viewer)) throw banned();
  }

  /** The account of the request's service token. */
  async service(request: Request, route: Route): Promise<TokenOwner> {
    const { scheme, token } = parseAuthorization(request.headers.get('authorization'));
    if (scheme !== 'token') {
      const orSignIn = route.operation.access === 'studio' ? ', or sign in' : '';
      return this.fail(
        request,
        route,
        `Send a service token: "Authorization: Token fb_…"${orSignIn}.`,
      );
    }
    const owner = await this.serviceTokens.findOwner(token);
    return owner ?? this.fail(request, route, 'The service token is unknown or revoked.');
  }

  /**
   * The caller of a studio operation: a service token, or a member with a session cookie and one of the
   * operation's roles (SPEC U).
   */
  async studio(request: Request, route: Route): Promise<StudioCaller> {
    if (request.headers.has('authorization') || this.sessions.hashFrom(request) === null) {
      const { user } = await this.service(request, route);
      return { user, actor: SERVICE_TOKEN_ACTOR };
    }
    const { account, member } = await this.session(request, route);
    const { uuid, name, role } = member;
    const roles = route.operation.roles ?? [];
    if (!roles.includes(role)) {
      throw unauthorized(`Your role is ${role}; this needs the role ${roles.join(' or ')}.`);
    }
    return { user: account, actor: { kind: 'member', uuid, name, role } };
  }

  /**
   * The caller of the presenter display: the presenter key of the stream, or a caller of the studio.
   * @returns the account that should own the stream, and what the studio rate limit is to charge
   */
  async presenter(
    request: Request,
    route: Route,
    streamId: string,
  ): Promise<{ producer: string; rateKey: string; member: string | null }> {
    const { scheme, token } = parseAuthorization(request.headers.get('authorization'));
    if (scheme !== 'presenter') {
      const { user, actor } = await this.studio(request, route);
      return { producer: user.uuid, rateKey: user.uuid, member: memberUuid(actor) };
    }
    const show = await this.presenterKeys.findStream(token);
    // A key has its own limit: a leaked key must not use up the requests of the account.
    if (show?.streamId === streamId) {
      return { producer: show.producer, rateKey: `pk ${streamId}`, member: null };
    }
    const detail = 'The presenter key is not valid for this show. Create a new one.';
    return this.fail(request, route, detail);
  }

  /** The session of a request. A write must come from a page of this service, with its CSRF token. */
  async session(request: Request, route: Route): Promise<ActiveSession> {
    if (request.headers.has('authorization')) {
      const detail = 'This operation needs a signed-in member; send no Authorization header.';
      return this.fail(request, route, detail);
    }
    const session = await this.sessions.findByRequest(request);
    if (!session) return this.fail(request, route, 'You are not signed in. Sign in and try again.');
    if (route.operation.method === 'GET') return session;
    await this.requireSameOrigin(request, route);
    if (sameHash(request.headers.get(CSRF_HEADER) ?? '', session.csrf)) return session;
    const detail = `Send the "csrf" of GET /studio/v1/session in the header ${CSRF_HEADER}.`;
    return this.fail(request, route, detail);
  }

  /** Rejects cross-origin requests. */
  async requireSameOrigin(request: Request, route: Route): Promise<void> {
    if (!this.sessions.isCrossOrigin(request)) return;
    const detail =
      'The request came from a page of another origin. Send it from a page of this service.';
    return this.fail(request, route, detail);
  }

  /** The caller of an operation that needs no credential; a credential that is sent must be valid. */
  async identifyCaller(request: Request, route: Route): Promise<Caller> {
    const header = request.headers.get('authorization');
    if (header === null) return ANONYMOUS;
    const { scheme, token } = parseAuthorization(header);
    if (scheme === 'token') return { kind: 'service', owner: await this.service(request, route) };
    const viewer = scheme === 'bearer' ? await this.viewerTokens.check(token) : null;
    if (viewer && this.admit(viewer, null, request, route)) return { kind: 'viewer', viewer };
    const detail = 'The credential is not valid. Send a valid one, or none.';
    if (viewer) throw unauthorized(detail);
    return this.fail(request, route, detail);
  }

  private async checkViewer(
    header: string | null,
    request: Request,
    route: Route,
    streamId: string | null,
  ): Promise<Viewer> {
    const { scheme, token } = parseAuthorization(header);
    const viewer = scheme === 'bearer' ? await this.viewerTokens.check(token) : null;
    if (viewer && this.admit(viewer, streamId, request, route)) return viewer;
    const detail =
      scheme === 'bearer'
        ? 'The viewer token is not valid or has expired. Get a new one.'
        : 'Send a viewer token: "Authorization: Bearer …".';
    // Expired, which is no guess: phones of one network that wake up together get new tokens only after a 401.
    if (viewer) throw unauthorized(detail);
    return this.fail(request, route, detail);
  }

  /**
   * Whether a viewer is admitted to a stream; false when the token has expired.
   * @throws DomainError `unauthorized` for a token of another stream or a banned viewer (SPEC C-19)
   */
  private admit(viewer: Viewer, streamId: string | null, request: Request, route: Route): boolean {
    const admission = this.viewerTokens.admission(viewer, streamId);
    if (admission === 'wrong-stream') {
      throw unauthorized('The viewer token is for another stream. Get a token for this stream.');
    }
    if (admission === 'banned') {
      this.failures.take(route.clientRateKey(request));
      throw banned();
    }
    return admission === 'admitted';
  }

  private async fail(request: Request, route: Route, detail: string): Promise<never> {
    // Without a credential nothing was tried: a limit would keep members of this address from the sign-in form.
    const isTried =
      request.headers.has('authorization') || this.sessions.hashFrom(request) !== null;
    if (isTried) this.failures.take(route.clientRateKey(request));
    throw unauthorized(detail);
  }
}

const unauthorized = (detail: string) => new DomainError('unauthorized', detail);
const banned = () => new DomainError('unauthorized', BANNED.detail, BANNED.members);

function parseAuthorization(header: string | null): { scheme: string; token: string } {
  const match = header === null ? null : CREDENTIAL.exec(header);
  return { scheme: match?.[1]?.toLowerCase() ?? '', token: match?.[2] ?? '' };
}
