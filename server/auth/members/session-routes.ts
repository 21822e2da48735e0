import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { Problem, unauthorized } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import {
  signInHandlerFactory,
  openSession,
  type SessionContext,
  sessionBody,
  sessionHandlerFactory,
} from './session-call.ts';
import type { ActiveSession } from './sessions.ts';

export interface SessionDeps extends SessionContext {
  readonly store: Pick<
    Store,
    'findSignIn' | 'openSession' | 'endSession' | 'endSessions' | 'changeOwnMember'
  >;
}

type Operations = Pick<
  typeof studioApi,
  'signIn' | 'readSession' | 'signOut' | 'signOutEverywhere' | 'patchOwnMember'
>;

const WRONG_CREDENTIALS = 'The e-mail or the password is wrong.';

/** Signing in and out, and what members change of themselves (SPEC U). */
export function sessionHandlers(gate: SessionDeps): Handlers<Operations> {
  const { store, sessions, passwords, signInRates } = gate;
  const forSignIn = signInHandlerFactory(gate);
  const forSession = sessionHandlerFactory(gate);

  /** The hashes of a new password and of the present one, when that was said. */
  async function newPassword(
    { member: { email } }: ActiveSession,
    next: string,
    current: string,
  ): Promise<{ old: string; next: string }> {
    signInRates.byEmail.take(email);
    const stored = await store.findSignIn({ email });
    const isCorrect = await passwords.verify(current, stored?.passwordHash ?? null);
    if (!stored || !isCorrect) throw new Problem(400, 'currentPassword: is not the present one.');
    return { old: stored.passwordHash, next: await passwords.hash(next) };
  }

  return {
    signIn: forSignIn(studioApi.signIn, async (claimed, { email, password }) => {
      signInRates.byEmail.take(email);
      const known = await store.findSignIn({ email });
      const isRight = await passwords.verify(password, known?.passwordHash ?? null);
      if (!known || !isRight) throw unauthorized('Token', WRONG_CREDENTIALS);
      const { member, passwordHash } = known;
      const newPasswordHash = passwords.isOutdated(passwordHash)
        ? await passwords.hash(password)
        : null;
      const replaced = sessions.hashFrom(claimed.request);
      return openSession(gate, claimed, (session) =>
        store.openSession({ member, passwordHash, newPasswordHash, replaced, session }),
      );
    }),

    readSession: forSession(studioApi.readSession, async (session) => ({
      reply: sessionBody(session, session.csrf),
    })),

    signOut: forSession(studioApi.signOut, async ({ hash }, _, request) => {
      await store.endSession({ hash });
      sessions.clearCache();
      return { reply: null, headers: { 'Set-Cookie': sessions.cookieFor(request).clear } };
    }),

    signOutEverywhere: forSession(studioApi.signOutEverywhere, async ({ member }, _, request) => {
      await store.endSessions({ member: member.uuid });
      sessions.clearCache();
      return { reply: null, headers: { 'Set-Cookie': sessions.cookieFor(request).clear } };
    }),

    patchOwnMember: forSession(studioApi.patchOwnMember, async (session, body) => {
      const { name = null, password, currentPassword = '' } = body;
      const changed =
        password === undefined ? null : await newPassword(session, password, currentPassword);
      const { uuid } = session.member;
      const own = { uuid, session: session.hash, name, password: changed };
      const reply = await store.changeOwnMember(own);
      sessions.clearCache();
      return { reply };
    }),
  };
}
