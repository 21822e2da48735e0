import type { User } from '../../protocol/accounts.ts';
import { CSRF_HEADER, type MemberRole } from '../../protocol/members.ts';
import { BANNED } from '../domains/moderation/banned.ts';
import type { ChatRooms } from '../domains/moderation/chat-rooms.ts';
import { type Scheme, unauthorized } from '../http/problem.ts';
import type { Route } from '../http/route.ts';
import type { RateLimiter } from '../platform/rate-limit/rate-limiter.ts';
import type { TokenOwner } from './accounts/accounts-sql.ts';
import { sameHash } from './accounts/api-token.ts';
import type { ServiceTokens } from './accounts/service-tokens.ts';
import type { ActiveSession, Sessions } from './members/sessions.ts';
import type { PresenterKeys } from './presenter-keys/presenter-keys.ts';
import type { Viewer, ViewerTokens } from './viewer-tokens/viewer-tokens.ts';

/** Who sent a request to a route that anybody may call. */
export type Caller =
  | { readonly kind: 'anybody' }
  | { readonly kind: 'service'; readonly owner: TokenOwner }
  | { readonly kind: 'viewer'; readonly viewer: Viewer };

/** Who acts in the studio: a program with a service token, or a person. */
export type Actor =
  | { readonly kind: 'token' }
  | {
      readonly kind: 'member';
      readonly uuid: string;
      readonly name: string;
      readonly role: MemberRole;
    };

/** Who was let into the studio, and the account that owns all there. */
export interface StudioCaller {
  readonly user: User;
  readonly actor: Actor;
}

const SERVICE_TOKEN_ACTOR: Actor = { kind: 'token' };
const ANONYMOUS: Caller = { kind: 'anybody' };
const CREDENTIAL = /^(bearer|token|presenter) +([\x21-\x7e]+)$/i;

/** Checks the credential of a request (SPEC A, T). Failures are limited for each address. */
export class Credentials {
  constructor(
    private readonly viewerTokens: ViewerTokens,
    private readonly serviceTokens: ServiceTokens,
    private readonly sessions: Sessions,
    private readonly presenterKeys: PresenterKeys,
    private readonly failures: RateLimiter,
    private readonly bans: Pick<ChatRooms, 'isBanned'>,
  ) {}

  /**
   * The viewer, whose token must be of this stream; at once when the token was seen before.
   * @param streamId null where the body names the stream
   * @throws Problem 401
   */
  viewer(request: Request, route: Route, streamId: string | null): Viewer | Promise<Viewer> {
    const header = request.headers.get('authorization');
    const seen = header?.startsWith('Bearer ') ? this.viewerTokens.cached(header.slice(7)) : null;
    if (seen && this.viewerTokens.admission(seen, streamId) === 'admitted') return seen;
    return this.unknownViewer(header, request, route, streamId);
  }

  /**
   * Who was let in may have been sent out since: for what waits for the rest of a request.
   * @throws Problem 401
   */
  requireNotBanned(viewer: Viewer): void {
    if (this.bans.isBanned(viewer)) throw unauthorized('Bearer', BANNED.detail, BANNED.members);
  }

  /** The account behind a service token. @throws Problem 401 */
  async service(request: Request, route: Route): Promise<TokenOwner> {
    const { scheme, token } = parseAuthorization(request.headers.get('authorization'));
    const address = route.clientRateKey(request);
    if (scheme !== 'token') {
      const orSignIn = route.operation.access === 'studio' ? ', or sign in' : '';
      const detail = `Send a service token: "Authorization: Token fb_…"${orSignIn}.`;
      return this.fail(address, 'Token', detail);
    }
    const owner = await this.serviceTokens.findOwner(token);
    return owner ?? this.fail(address, 'Token', 'The service token is unknown or revoked.');
  }

  /**
   * Who may call a studio operation: a service token, or else a member by the cookie of a session, in
   * one of the operation's roles (SPEC U).
   * @throws Problem 401
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
      throw unauthorized('Token', `Your role is ${role}; this is for ${roles.join(' and ')}.`);
    }
    return { user: account, actor: { kind: 'member', uuid, name, role } };
  }

  /**
   * Who may see a show as its presenter does: by the key of this stream, or else as in the studio.
   * @returns the account whose show it is, and whose share of the studio's rate the request uses
   * @throws Problem 401
   */
  async presenter(
    request: Request,
    route: Route,
    streamId: string,
  ): Promise<{ producer: string; share: string }> {
    const { scheme, token } = parseAuthorization(request.headers.get('authorization'));
    if (scheme !== 'presenter') {
      const { user } = await this.studio(request, route);
      return { producer: user.uuid, share: user.uuid };
    }
    const found = await this.presenterKeys.findStream(token);
    // Who has the key, which is on a wall's machine, must not use up what the account may ask.
    if (found?.streamId === streamId) return { producer: found.producer, share: `pk ${streamId}` };
    const detail = 'The presenter key is not that of this show (any more); make a new one.';
    return this.fail(route.clientRateKey(request), 'Token', detail);
  }

  /**
   * The session of a request that must have one; a write shows that a page of this service sent it.
   * @throws Problem 401
   */
  async session(request: Request, route: Route): Promise<ActiveSession> {
    const address = route.clientRateKey(request);
    if (request.headers.has('authorization')) {
      return this.fail(
        address,
        'Token',
        'This is for who signed in; send no Authorization header.',
      );
    }
    const session = await this.sessions.findByRequest(request);
    if (!session)
      return this.fail(address, 'Token', 'Nobody is signed in here (any more); sign in.');
    if (route.operation.method === 'GET') return session;
    await this.requireSameOrigin(request, route);
    if (sameHash(request.headers.get(CSRF_HEADER) ?? '', session.csrf)) return session;
    const detail = `Send the "csrf" that GET /studio/v1/session tells, as ${CSRF_HEADER}.`;
    return this.fail(address, 'Token', detail);
  }

  /** Lets nobody through whom the page of another origin sent. @throws Problem 401 */
  async requireSameOrigin(request: Request, route: Route): Promise<void> {
    if (!this.sessions.isCrossOrigin(request)) return;
    const detail = 'A page of another origin sent this; call from a page of this service.';
    return this.fail(route.clientRateKey(request), 'Token', detail);
  }

  /** Whoever it is; a credential that is sent must be valid. @throws Problem 401 */
  async optional(request: Request, route: Route): Promise<Caller> {
    const header = request.headers.get('authorization');
    if (header === null) return ANONYMOUS;
    const { scheme, token } = parseAuthorization(header);
    if (scheme === 'token') return { kind: 'service', owner: await this.service(request, route) };
    const viewer = scheme === 'bearer' ? await this.viewerTokens.check(token) : null;
    if (viewer && this.admit(viewer, null, request, route, 'Token')) {
      return { kind: 'viewer', viewer };
    }
    return this.fail(route.clientRateKey(request), 'Token', 'The credential is not valid; send none.');
  }

  private async unknownViewer(
    header: string | null,
    request: Request,
    route: Route,
    streamId: string | null,
  ): Promise<Viewer> {
    const { scheme, token } = parseAuthorization(header);
    const viewer = scheme === 'bearer' ? await this.viewerTokens.check(token) : null;
    if (viewer && this.admit(viewer, streamId, request, route, 'Bearer')) return viewer;
    const detail =
      scheme === 'bearer'
        ? 'The viewer token is not valid or has expired; get a new one.'
        : 'Send a viewer token: "Authorization: Bearer …".';
    return this.fail(route.clientRateKey(request), 'Bearer', detail);
  }

  /**
   * Whether a viewer is admitted to a stream; false when the token has expired.
   * @throws Problem 401 when the token is of another stream, or the viewer is banned (SPEC C-19)
   */
  private admit(
    viewer: Viewer,
    streamId: string | null,
    request: Request,
    route: Route,
    scheme: Scheme,
  ): boolean {
    const admission = this.viewerTokens.admission(viewer, streamId);
    if (admission === 'wrong-stream') {
      const detail = 'The viewer token is of another stream; get one for this stream.';
      throw unauthorized(scheme, detail);
    }
    if (admission === 'banned') {
      this.failures.take(route.clientRateKey(request));
      throw unauthorized(scheme, BANNED.detail, BANNED.members);
    }
    return admission === 'admitted';
  }

  private async fail(address: string, scheme: Scheme, detail: string): Promise<never> {
    this.failures.take(address);
    throw unauthorized(scheme, detail);
  }
}

function parseAuthorization(header: string | null): { scheme: string; token: string } {
  const match = header === null ? null : CREDENTIAL.exec(header);
  return { scheme: match?.[1]?.toLowerCase() ?? '', token: match?.[2] ?? '' };
}
