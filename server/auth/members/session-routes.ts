import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { Problem, unauthorized } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import {
  claimWrapper,
  opened,
  type SessionGate,
  sessionReply,
  sessionWrapper,
} from './session-call.ts';
import type { LiveSession } from './sessions.ts';

export interface SessionRoutes extends SessionGate {
  readonly store: Pick<
    Store,
    'findSignIn' | 'openSession' | 'endSession' | 'endSessions' | 'changeOwnMember'
  >;
}

type Operations = Pick<
  typeof studioApi,
  'signIn' | 'readSession' | 'signOut' | 'signOutEverywhere' | 'patchOwnMember'
>;

const WRONG = 'The e-mail or the password is wrong.';

/** Signing in and out, and what members change of themselves (SPEC U). */
export function sessionHandlers(gate: SessionRoutes): Handlers<Operations> {
  const { store, sessions, passwords, tries } = gate;
  const claim = claimWrapper(gate);
  const ofSession = sessionWrapper(gate);

  /** The hashes of a new password and of the present one, when that was said. */
  async function newPassword(
    { member: { email } }: LiveSession,
    next: string,
    present: string,
  ): Promise<{ old: string; next: string }> {
    tries.ofEmail.take(email);
    const known = await store.findSignIn({ email });
    const isRight = await passwords.isRight(present, known?.passwordHash ?? null);
    if (!known || !isRight) throw new Problem(400, 'currentPassword: is not the present one.');
    return { old: known.passwordHash, next: await passwords.hash(next) };
  }

  return {
    signIn: claim(studioApi.signIn, async (claimed, { email, password }) => {
      tries.ofEmail.take(email);
      const known = await store.findSignIn({ email });
      const isRight = await passwords.isRight(password, known?.passwordHash ?? null);
      if (!known || !isRight) throw unauthorized('Token', WRONG);
      const { member, passwordHash } = known;
      const newPasswordHash = passwords.isOutdated(passwordHash)
        ? await passwords.hash(password)
        : null;
      const replaced = sessions.hashIn(claimed.request);
      return opened(gate, claimed, (session) =>
        store.openSession({ member, passwordHash, newPasswordHash, replaced, session }),
      );
    }),

    readSession: ofSession(studioApi.readSession, async (session) => ({
      reply: sessionReply(session, session.csrf),
    })),

    signOut: ofSession(studioApi.signOut, async ({ hash }, _, request) => {
      await store.endSession({ hash });
      sessions.forget();
      return { reply: null, headers: { 'Set-Cookie': sessions.cookieFor(request).drop } };
    }),

    signOutEverywhere: ofSession(studioApi.signOutEverywhere, async ({ member }, _, request) => {
      await store.endSessions({ member: member.uuid });
      sessions.forget();
      return { reply: null, headers: { 'Set-Cookie': sessions.cookieFor(request).drop } };
    }),

    patchOwnMember: ofSession(studioApi.patchOwnMember, async (session, body) => {
      const { name = null, password, currentPassword = '' } = body;
      const changed =
        password === undefined ? null : await newPassword(session, password, currentPassword);
      const { uuid } = session.member;
      const own = { uuid, session: session.hash, name, password: changed };
      const reply = await store.changeOwnMember(own);
      sessions.forget();
      return { reply };
    }),
  };
}
