import type { Session } from '../../../protocol/members.ts';
import type { Operation } from '../../../protocol/operation.ts';
import type { Handler } from '../../http/route.ts';
import type { RateLimiter } from '../../platform/rate-limit/rate-limiter.ts';
import {
  type BodyOf,
  readOperationBody,
  type ResultOf,
  successResponse,
  type StudioContext,
  successStatus,
} from '../studio-operation.ts';
import { sessionExpiryMs } from './member-rules.ts';
import { csrfToken, hashSecret, newSecret } from './one-time-secret.ts';
import type { Passwords } from './passwords.ts';
import type { ActiveSession, Sessions } from './sessions.ts';
import type { NewSession, SessionRow } from './sessions-sql.ts';

/** What the way of requests that open, use and end sessions needs. */
export interface SessionContext extends StudioContext {
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  /** Tries of an address, and of passwords for an e-mail (SPEC U). */
  readonly signInRates: { readonly byAddress: RateLimiter; readonly byEmail: RateLimiter };
  /** Secure random bytes, for secrets. */
  readonly randomBytes: (n: number) => Uint8Array;
}

/** What was done, whose it is if it is anybody's, and headers that go with it. */
export interface SessionResult<Reply> {
  readonly reply: Reply;
  readonly session?: SessionRow;
  readonly headers?: Record<string, string>;
}

/** A request of somebody who says who they are. */
export interface SignInCall {
  readonly request: Request;
  readonly nowMs: number;
}

/** Wraps operations that anybody may call who has a password or a link. */
export type SignInHandlerFactory = <O extends Operation>(
  operation: O,
  run: (claim: SignInCall, body: BodyOf<O>) => Promise<SessionResult<ResultOf<O>>>,
) => Handler;

/** Makes handlers that count the tries of an address and let in no page of another origin. */
export function signInHandlerFactory(gate: SessionContext): SignInHandlerFactory {
  return (operation, run) => {
    const status = successStatus(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      gate.signInRates.byAddress.take(route.clientRateKey(request));
      await gate.credentials.requireSameOrigin(request, route);
      const body = await readOperationBody(operation, request);
      const done = await run({ request, nowMs: gate.clock.nowMs() }, body);
      const { reply, session, headers } = done;
      if (session) {
        const { account, member } = session;
        gate.log.logWrite(operation, requestId, account.uuid, status, member.uuid);
      }
      return successResponse(route, status, reply, { 'X-Request-Id': requestId, ...headers });
    };
  };
}

/** Wraps operations about the session that calls. */
export type SessionHandlerFactory = <O extends Operation>(
  operation: O,
  run: (session: ActiveSession, body: BodyOf<O>, request: Request) => Promise<SessionResult<ResultOf<O>>>,
) => Handler;

/** Makes handlers that need a session, whatever the role of its member. */
export function sessionHandlerFactory(gate: SessionContext): SessionHandlerFactory {
  return (operation, run) => {
    const status = successStatus(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      const session = await gate.credentials.session(request, route);
      const { account, member } = session;
      gate.rate.take(account.uuid);
      const body = await readOperationBody(operation, request);
      const { reply, headers } = await run(session, body, request);
      if (operation.method !== 'GET') {
        gate.log.logWrite(operation, requestId, account.uuid, status, member.uuid);
      }
      return successResponse(route, status, reply, { 'X-Request-Id': requestId, ...headers });
    };
  };
}

/** Who is signed in, as a page is told. */
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
 * Opens a session: a new secret each time, so that nobody can know it before.
 * @param open makes the session in the database
 */
export async function openSession(
  gate: SessionContext,
  { request, nowMs }: SignInCall,
  open: (session: NewSession) => Promise<SessionRow>,
): Promise<SessionResult<Session>> {
  const secret = newSecret(gate.randomBytes);
  const session = await open({ hash: hashSecret(secret), nowMs });
  gate.sessions.clearCache();
  return {
    reply: sessionBody(session, csrfToken(secret)),
    session,
    headers: { 'Set-Cookie': gate.sessions.cookieFor(request).set(secret) },
  };
}
