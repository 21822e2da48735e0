import type { Session } from '../../../protocol/members.ts';
import type { Operation } from '../../../protocol/operation.ts';
import type { Handler } from '../../http/route.ts';
import type { RateLimiter } from '../../platform/rate-limiter.ts';
import { csrfToken, hashSecret, newSecret, type RandomBytes } from '../secrets.ts';
import {
  type BodyOf,
  type ResultOf,
  readOperationBody,
  type StudioContext,
  successResponse,
  successStatus,
} from '../studio-handler.ts';
import type { KnownDevices } from './known-devices.ts';
import { sessionExpiryMs } from './member-rules.ts';
import type { PasswordLimit } from './password-limit.ts';
import type { Passwords } from './passwords.ts';
import type { ActiveSession, Sessions } from './sessions.ts';
import type { NewSession, SessionRow } from './sessions-sql.ts';

/** What the handlers of sign-in and session operations share. */
export interface SessionContext extends StudioContext {
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  /** Limits sign-in attempts of an address (SPEC L-15). */
  readonly signInRate: RateLimiter;
  readonly passwordLimit: PasswordLimit;
  readonly devices: KnownDevices;
  readonly randomBytes: RandomBytes;
}

/** The result of a session operation: the body, the session for the log, and `Set-Cookie` values. */
export interface SessionResult<Body> {
  readonly body: Body;
  readonly session?: SessionRow;
  readonly cookies?: readonly string[];
}

/** A request of a client that signs in. */
export interface SignInCall {
  readonly request: Request;
  /** The rate limit key of its address. */
  readonly client: string;
  /** The cookie of a device that may be known; null: none, or the operation does not read it. */
  readonly device: string | null;
  readonly nowMs: number;
}

/** Creates the handler of an operation that takes a password or a link instead of a credential. */
export type SignInHandlerFactory = <O extends Operation>(
  operation: O,
  run: (call: SignInCall, body: BodyOf<O>) => Promise<SessionResult<ResultOf<O>>>,
) => Handler;

/**
 * Handlers limit the attempts of an address and reject cross-origin requests.
 * @param readsDevice whether `run` counts the attempt itself when there is the cookie of a device
 */
export function signInHandlerFactory(
  context: SessionContext,
  readsDevice = false,
): SignInHandlerFactory {
  return (operation, run) => {
    const status = successStatus(operation);
    return async (request, route) => {
      const requestId = context.log.requestId(request);
      const client = route.clientRateKey(request);
      const cookie = context.sessions.cookiesFor(request).device;
      const device = readsDevice ? cookie.read(request) : null;
      // First, or pages of other origins would use up the sign-ins of this address.
      await context.credentials.requireSameOrigin(request, route);
      if (device === null) context.signInRate.take(client);
      const input = await readOperationBody(operation, request);
      const call = { request, client, device, nowMs: context.clock.nowMs() };
      const { body, session, cookies } = await run(call, input);
      if (session) {
        const { account, member } = session;
        context.log.logWrite(operation, requestId, account.uuid, status, member.uuid);
      }
      return withCookies(
        successResponse(route, status, body, { 'X-Request-Id': requestId }),
        cookies,
      );
    };
  };
}

/** Creates the handler of an operation on the caller's session. */
export type SessionHandlerFactory = <O extends Operation>(
  operation: O,
  run: (
    session: ActiveSession,
    body: BodyOf<O>,
    request: Request,
  ) => Promise<SessionResult<ResultOf<O>>>,
) => Handler;

/** Handlers require a session; the member may have any role. */
export function sessionHandlerFactory(context: SessionContext): SessionHandlerFactory {
  return (operation, run) => {
    const status = successStatus(operation);
    return async (request, route) => {
      const requestId = context.log.requestId(request);
      const session = await context.credentials.session(request, route);
      const { account, member } = session;
      context.rate.take(account.uuid, member.uuid);
      const input = await readOperationBody(operation, request);
      // A client may send the body seconds later: the session may have ended since.
      if (operation.body) await context.credentials.session(request, route);
      const { body, cookies } = await run(session, input, request);
      if (operation.method !== 'GET') {
        context.log.logWrite(operation, requestId, account.uuid, status, member.uuid);
      }
      return withCookies(
        successResponse(route, status, body, { 'X-Request-Id': requestId }),
        cookies,
      );
    };
  };
}

function withCookies(response: Response, cookies: readonly string[] = []): Response {
  for (const cookie of cookies) response.headers.append('Set-Cookie', cookie);
  return response;
}

/** The session as the API returns it. */
export function sessionBody(session: SessionRow, csrf: string): Session {
  const { member, account, created } = session;
  return {
    member: { uuid: member.uuid, email: member.email, name: member.name, role: member.role },
    account: { uuid: account.uuid, name: account.name, email: account.email },
    csrf,
    created,
    expires: sessionExpiryMs(session),
  };
}

/**
 * Opens a session with a new secret, which prevents session fixation.
 * @param open creates the session in the database
 */
export async function openSession(
  context: SessionContext,
  { request, nowMs }: SignInCall,
  open: (session: NewSession) => Promise<SessionRow>,
): Promise<SessionResult<Session>> {
  const secret = newSecret(context.randomBytes);
  const replaced = context.sessions.hashFrom(request);
  const session = await open({ hash: hashSecret(secret), replaced, nowMs });
  context.sessions.clearCache();
  const cookies = context.sessions.cookiesFor(request);
  const device = context.devices.issue(session.member, nowMs);
  return {
    body: sessionBody(session, csrfToken(secret)),
    session,
    cookies: [cookies.session.set(secret), cookies.device.set(device)],
  };
}
