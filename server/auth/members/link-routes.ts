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

type Operations = Pick<typeof studioApi, 'setUp' | 'lookAtSetupLink' | 'lookAtLink' | 'acceptLink'>;

/** Operations behind one-time links: set up the first account, join one, set a password (SPEC U). */
export function linkHandlers(context: LinkDeps): Handlers<Operations> {
  const { store, passwords, newId } = context;
  const forSignIn = signInHandlerFactory(context);

  async function requireSetupLink(hash: string, nowMs: number): Promise<void> {
    if (await store.isSetupLink({ hash, nowMs })) return;
    throw new DomainError(
      'unauthorized',
      (await store.isSetUp({}))
        ? 'The service is already set up. Sign in, or ask an owner for an invitation.'
        : 'The link has expired. Restart the service to get a new one.',
    );
  }

  return {
    setUp: forSignIn(studioApi.setUp, async (call, { token, name, email, password }) => {
      const { nowMs } = call;
      const hash = hashSecret(token);
      // Check the link first: hashing is expensive.
      await requireSetupLink(hash, nowMs);
      const account = { uuid: newId(), email, name, created: nowMs };
      const passwordHash = await passwords.hash(password, { isKnown: true, group: hash });
      const owner = {
        ...{ uuid: newId(), account: account.uuid, email, name, role: 'owner' as const },
        ...{ passwordHash, created: nowMs },
      };
      return openSession(context, call, (session) =>
        store.setUp({ hash, account, owner, session }),
      );
    }),

    lookAtSetupLink: forSignIn(studioApi.lookAtSetupLink, async ({ nowMs }, { token }) => {
      await requireSetupLink(hashSecret(token), nowMs);
      return { body: null };
    }),

    lookAtLink: forSignIn(studioApi.lookAtLink, async ({ nowMs }, { token }) => ({
      body: await store.lookAtLink({ hash: hashSecret(token), nowMs }),
    })),

    acceptLink: forSignIn(studioApi.acceptLink, async (call, { token, name = null, password }) => {
      const { nowMs } = call;
      const hash = hashSecret(token);
      // Not by link: one that fails stays valid, and an account has 100.
      const account = await store.findLinkAccount({ hash, nowMs });
      const passwordHash = await passwords.hash(password, { isKnown: true, group: account });
      return openSession(context, call, (session) =>
        store.acceptLink({ hash, uuid: newId(), name, passwordHash, session }),
      );
    }),
  };
}
