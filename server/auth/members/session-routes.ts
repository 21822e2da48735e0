import { studioApi } from '../../../protocol/studio-api.ts';
import { networkOf } from '../../http/address.ts';
import type { Handlers } from '../../http/route.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { KnownDevice } from './known-devices.ts';
import type { memberProcedures } from './members-sql.ts';
import {
  openSession,
  type SessionContext,
  type SignInCall,
  sessionBody,
  sessionHandlerFactory,
  signInHandlerFactory,
} from './session-handler.ts';
import type { ActiveSession } from './sessions.ts';
import type { sessionProcedures } from './sessions-sql.ts';

export interface SessionDeps extends SessionContext {
  readonly store: Calls<typeof sessionProcedures & typeof memberProcedures>;
}

type Operations = Pick<
  typeof studioApi,
  'signIn' | 'readSession' | 'signOut' | 'signOutEverywhere' | 'patchOwnMember'
>;

const WRONG_CREDENTIALS = 'The email or the password is wrong.';

/** Signing in and out, and changes of a member to its own name and password (SPEC U). */
export function sessionHandlers(context: SessionDeps): Handlers<Operations> {
  const { store, sessions, passwords, passwordLimit, signInRate, devices } = context;
  const forSignIn = signInHandlerFactory(context, true);
  const forSession = sessionHandlerFactory(context);

  /**
   * Counts a password of a sign-in.
   * @returns the known device that it comes from; null: none
   * @throws RateLimited
   */
  function takeAttempt({ device, client, nowMs }: SignInCall, email: string): KnownDevice | null {
    const known = devices.find(device, email, nowMs);
    if (known) passwordLimit.takeDevice(known);
    else {
      // The cookie is of another email or service: the address was not counted for it.
      if (device !== null) signInRate.take(client);
      passwordLimit.take(client, email);
    }
    return known;
  }

  /** Checks the current password. @returns its stored hash and the hash of the new password */
  async function hashNewPassword(
    { member: { uuid, email } }: ActiveSession,
    newPassword: string,
    current: string,
  ): Promise<{ old: string; next: string }> {
    // Not by address: whoever has the session may come from any.
    passwordLimit.takeMember(uuid);
    const stored = await store.findSignIn({ email });
    const owner = { isKnown: true, group: stored?.account ?? uuid };
    const isCorrect = await passwords.verify(current, stored?.passwordHash ?? null, owner);
    if (!stored || !isCorrect) throw new DomainError('invalid', 'currentPassword: is wrong.');
    return { old: stored.passwordHash, next: await passwords.hash(newPassword, owner) };
  }

  return {
    signIn: forSignIn(studioApi.signIn, async (call, { email, password }) => {
      const known = takeAttempt(call, email);
      const stored = await store.findSignIn({ email });
      const { client } = call;
      const isKnown = known !== null && known.member === stored?.member;
      // Its member was removed since: the attempt was not counted for the address.
      if (known && !isKnown) {
        signInRate.take(client);
        passwordLimit.take(client, email);
      }
      // All devices of an account together, and guessers of a network: each keeps only its own group waiting.
      const account = isKnown ? stored.account : undefined;
      const group = account ?? networkOf(client) ?? client;
      const owner = { isKnown: account !== undefined, group };
      const isCorrect = await passwords.verify(password, stored?.passwordHash ?? null, owner);
      if (!stored || !isCorrect) throw new DomainError('unauthorized', WRONG_CREDENTIALS);
      const { member, passwordHash } = stored;
      const newPasswordHash = passwords.isOutdated(passwordHash)
        ? await passwords.hash(password, owner)
        : null;
      return openSession(context, call, (session) =>
        store.openSession({ member, passwordHash, newPasswordHash, session }),
      );
    }),

    readSession: forSession(studioApi.readSession, async (session) => ({
      body: sessionBody(session, session.csrf),
    })),

    signOut: forSession(studioApi.signOut, async ({ hash }, _, request) => {
      await store.endSession({ hash });
      sessions.clearCache();
      return { body: null, cookies: [sessions.cookiesFor(request).session.clear] };
    }),

    signOutEverywhere: forSession(studioApi.signOutEverywhere, async ({ member }, _, request) => {
      await store.endSessions({ member: member.uuid });
      sessions.clearCache();
      return { body: null, cookies: [sessions.cookiesFor(request).session.clear] };
    }),

    patchOwnMember: forSession(studioApi.patchOwnMember, async (session, patch) => {
      const { name = null, password, currentPassword = '' } = patch;
      const hashes =
        password === undefined ? null : await hashNewPassword(session, password, currentPassword);
      const { uuid } = session.member;
      const change = { uuid, session: session.hash, name, password: hashes };
      const member = await store.changeOwnMember(change);
      sessions.clearCache();
      return { body: member };
    }),
  };
}
