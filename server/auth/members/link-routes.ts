import { studioApi } from '../../../protocol/studio-api.ts';
import type { Handlers } from '../../http/route.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { hashSecret } from '../secrets.ts';
import type { linkProcedures } from './links-sql.ts';
import { openSession, type SessionContext, signInHandlerFactory } from './session-handler.ts';

export interface LinkDeps extends SessionContext {
  readonly store: Calls<typeof linkProcedures>;
  readonly newId: () => string;
}

type Operations = Pick<typeof studioApi, 'setUp' | 'lookAtLink' | 'acceptLink'>;

/** Operations behind one-time links: set up the first account, join one, set a password (SPEC U). */
export function linkHandlers(context: LinkDeps): Handlers<Operations> {
  const { store, passwords, newId } = context;
  const forSignIn = signInHandlerFactory(context);
  return {
    setUp: forSignIn(studioApi.setUp, async (call, { token, name, email, password }) => {
      const { nowMs } = call;
      const hash = hashSecret(token);
      // Check the link first: hashing is expensive.
      if (!(await store.isSetupLink({ hash, nowMs }))) {
        const detail = 'The link was used or has expired. Restart the service to get a new one.';
        throw new DomainError('unauthorized', detail);
      }
      const account = { uuid: newId(), email, name, created: nowMs };
      const passwordHash = await passwords.hash(password);
      const owner = {
        ...{ uuid: newId(), account: account.uuid, email, name, role: 'owner' as const },
        ...{ passwordHash, created: nowMs },
      };
      return openSession(context, call, (session) =>
        store.setUp({ hash, account, owner, session }),
      );
    }),

    lookAtLink: forSignIn(studioApi.lookAtLink, async ({ nowMs }, { token }) => ({
      body: await store.lookAtLink({ hash: hashSecret(token), nowMs }),
    })),

    acceptLink: forSignIn(studioApi.acceptLink, async (call, { token, name = null, password }) => {
      const { nowMs } = call;
      const hash = hashSecret(token);
      await store.lookAtLink({ hash, nowMs });
      const passwordHash = await passwords.hash(password);
      return openSession(context, call, (session) =>
        store.acceptLink({ hash, uuid: newId(), name, passwordHash, session }),
      );
    }),
  };
}
