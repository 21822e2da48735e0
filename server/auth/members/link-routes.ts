import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { unauthorized } from '../../http/problem.ts';
import type { Handlers } from '../../http/route.ts';
import { hashOfSecret } from './one-time-secret.ts';
import { claimWrapper, opened, type SessionGate } from './session-call.ts';

export interface LinkRoutes extends SessionGate {
  readonly store: Pick<Store, 'isSetupLink' | 'setUp' | 'lookAtLink' | 'acceptLink'>;
  readonly newId: () => string;
}

type Operations = Pick<typeof studioApi, 'setUp' | 'lookAtLink' | 'acceptLink'>;

/** What one-time links open: the first account, a place in one, a new password (SPEC U). */
export function linkHandlers(gate: LinkRoutes): Handlers<Operations> {
  const { store, passwords, newId } = gate;
  const claim = claimWrapper(gate);
  return {
    setUp: claim(studioApi.setUp, async (claimed, { token, name, email, password }) => {
      const { nowMs } = claimed;
      const hash = hashOfSecret(token);
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
      return opened(gate, claimed, (session) => store.setUp({ hash, account, owner, session }));
    }),

    lookAtLink: claim(studioApi.lookAtLink, async ({ nowMs }, { token }) => ({
      reply: await store.lookAtLink({ hash: hashOfSecret(token), nowMs }),
    })),

    acceptLink: claim(studioApi.acceptLink, async (claimed, { token, name = null, password }) => {
      const { nowMs } = claimed;
      const hash = hashOfSecret(token);
      await store.lookAtLink({ hash, nowMs });
      const passwordHash = await passwords.hash(password);
      return opened(gate, claimed, (session) =>
        store.acceptLink({ hash, uuid: newId(), name, passwordHash, session }),
      );
    }),
  };
}
