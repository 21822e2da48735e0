import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { unauthorized } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import { hashSecret } from './one-time-secret.ts';
import { signInHandlerFactory, openSession, type SessionContext } from './session-call.ts';

export interface LinkDeps extends SessionContext {
  readonly store: Pick<Store, 'isSetupLink' | 'setUp' | 'lookAtLink' | 'acceptLink'>;
  readonly newId: () => string;
}

type Operations = Pick<typeof studioApi, 'setUp' | 'lookAtLink' | 'acceptLink'>;

/** What one-time links open: the first account, a place in one, a new password (SPEC U). */
export function linkHandlers(gate: LinkDeps): Handlers<Operations> {
  const { store, passwords, newId } = gate;
  const forSignIn = signInHandlerFactory(gate);
  return {
    setUp: forSignIn(studioApi.setUp, async (claimed, { token, name, email, password }) => {
      const { nowMs } = claimed;
      const hash = hashSecret(token);
      // Whoever has no link makes nobody hash.
      if (!(await store.isSetupLink({ hash, nowMs }))) {
        throw unauthorized('Token', 'The link was used or is too old; a new start prints another.');
      }
      const account = { uuid: newId(), email, name, created: nowMs };
      const passwordHash = await passwords.hash(password);
      const owner = {
        ...{ uuid: newId(), account: account.uuid, email, name, role: 'owner' as const },
        ...{ passwordHash, created: nowMs },
      };
      return openSession(gate, claimed, (session) => store.setUp({ hash, account, owner, session }));
    }),

    lookAtLink: forSignIn(studioApi.lookAtLink, async ({ nowMs }, { token }) => ({
      reply: await store.lookAtLink({ hash: hashSecret(token), nowMs }),
    })),

    acceptLink: forSignIn(studioApi.acceptLink, async (claimed, { token, name = null, password }) => {
      const { nowMs } = claimed;
      const hash = hashSecret(token);
      await store.lookAtLink({ hash, nowMs });
      const passwordHash = await passwords.hash(password);
      return openSession(gate, claimed, (session) =>
        store.acceptLink({ hash, uuid: newId(), name, passwordHash, session }),
      );
    }),
  };
}
