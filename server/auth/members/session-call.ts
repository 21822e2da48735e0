import type { Session } from '../../../protocol/members.ts';
import type { Operation } from '../../../protocol/operation.ts';
import type { Handler } from '../../http/route.ts';
import type { Rate } from '../../platform/rate-limit.ts';
import {
  type BodyOf,
  bodyOf,
  type ReplyOf,
  replied,
  type StudioGate,
  successOf,
} from '../studio-operation.ts';
import { sessionEndsMs } from './member-rules.ts';
import { csrfTokenOf, hashOfSecret, newSecret } from './one-time-secret.ts';
import type { Passwords } from './passwords.ts';
import type { LiveSession, Sessions } from './sessions.ts';
import type { NewSession, SessionRow } from './sessions-sql.ts';

/** What the way of requests that open, use and end sessions needs. */
export interface SessionGate extends StudioGate {
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  /** Tries of an address, and of passwords for an e-mail (SPEC U). */
  readonly tries: { readonly ofAddress: Rate; readonly ofEmail: Rate };
  /** Secure random bytes, for secrets. */
  readonly randomBytes: (n: number) => Uint8Array;
}

/** What was done, whose it is if it is anybody's, and headers that go with it. */
export interface Done<Reply> {
  readonly reply: Reply;
  readonly session?: SessionRow;
  readonly headers?: Record<string, string>;
}

/** A request of somebody who says who they are. */
export interface Claim {
  readonly request: Request;
  readonly nowMs: number;
}

/** Wraps operations that anybody may call who has a password or a link. */
export type ClaimWrapper = <O extends Operation>(
  operation: O,
  run: (claim: Claim, body: BodyOf<O>) => Promise<Done<ReplyOf<O>>>,
) => Handler;

/** Makes handlers that count the tries of an address and let in no page of another origin. */
export function claimWrapper(gate: SessionGate): ClaimWrapper {
  return (operation, run) => {
    const status = successOf(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      gate.tries.ofAddress.take(route.addressOf(request));
      await gate.credentials.ownPage(request, route);
      const body = await bodyOf(operation, request);
      const done = await run({ request, nowMs: gate.clock.nowMs() }, body);
      const { reply, session, headers } = done;
      if (session) {
        const { account, member } = session;
        gate.log.done(operation, requestId, account.uuid, status, member.uuid);
      }
      return replied(route, status, reply, { 'X-Request-Id': requestId, ...headers });
    };
  };
}

/** Wraps operations about the session that calls. */
export type SessionWrapper = <O extends Operation>(
  operation: O,
  run: (session: LiveSession, body: BodyOf<O>, request: Request) => Promise<Done<ReplyOf<O>>>,
) => Handler;

/** Makes handlers that need a session, whatever the role of its member. */
export function sessionWrapper(gate: SessionGate): SessionWrapper {
  return (operation, run) => {
    const status = successOf(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      const session = await gate.credentials.session(request, route);
      const { account, member } = session;
      gate.rate.take(account.uuid);
      const body = await bodyOf(operation, request);
      const { reply, headers } = await run(session, body, request);
      if (operation.method !== 'GET') {
        gate.log.done(operation, requestId, account.uuid, status, member.uuid);
      }
      return replied(route, status, reply, { 'X-Request-Id': requestId, ...headers });
    };
  };
}

/** Who is signed in, as a page is told. */
export function sessionReply(session: SessionRow, csrf: string): Session {
  const { member, account, created } = session;
  return {
    member: { uuid: member.uuid, email: member.email, name: member.name, role: member.role },
    account: { uuid: account.uuid, name: account.name, email: account.email },
    csrf,
    created,
    expires: sessionEndsMs(session),
  };
}

/**
 * Opens a session: a new secret each time, so that nobody can know it before.
 * @param open makes the session in the database
 */
export async function opened(
  gate: SessionGate,
  { request, nowMs }: Claim,
  open: (session: NewSession) => Promise<SessionRow>,
): Promise<Done<Session>> {
  const secret = newSecret(gate.randomBytes);
  const session = await open({ hash: hashOfSecret(secret), nowMs });
  gate.sessions.forget();
  return {
    reply: sessionReply(session, csrfTokenOf(secret)),
    session,
    headers: { 'Set-Cookie': gate.sessions.cookieFor(request).keep(secret) },
  };
}
