import { studioApi } from '../../../protocol/studio-api.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { type Credentials, memberUuid } from '../credentials.ts';
import type { RandomBytes } from '../secrets.ts';
import { type StudioHandlerFactory, secretAlreadyShown } from '../studio-handler.ts';
import type { accountProcedures } from './accounts-sql.ts';
import { newServiceToken } from './service-tokens.ts';

/** `users/me` (SPEC A). */
export function accountHandlers(
  credentials: Credentials,
): Handlers<Pick<typeof viewerApi, 'readMe'>> {
  return {
    readMe: async (request, route) => {
      const { user } = await credentials.service(request, route);
      return route.ok(user);
    },
  };
}

export interface ApiTokenDeps {
  readonly store: Calls<typeof accountProcedures>;
  readonly newId: () => string;
  readonly randomBytes: RandomBytes;
}

type Operations = Pick<
  typeof studioApi,
  'readAccount' | 'createApiToken' | 'listApiTokens' | 'revokeApiToken'
>;

/** The account and its service tokens (SPEC P-5, P-6). */
export function apiTokenHandlers(
  studio: StudioHandlerFactory,
  { store, newId, randomBytes }: ApiTokenDeps,
): Handlers<Operations> {
  return {
    readAccount: studio(studioApi.readAccount, async ({ user }) => user),

    createApiToken: studio(studioApi.createApiToken, async (call, { name }) => {
      const id = newId();
      const { secret, stored } = newServiceToken(id, name, randomBytes);
      const created = await store.createApiToken(
        {
          account: call.producer,
          by: memberUuid(call.actor),
          token: stored,
          nowMs: call.nowMs,
        },
        call.idempotency,
      );
      if (created.id !== id) throw secretAlreadyShown('a token');
      const { prefix } = stored;
      return { id, name, prefix, created: call.nowMs, lastUsed: null, token: secret };
    }),

    listApiTokens: studio(studioApi.listApiTokens, async ({ producer }) => ({
      results: await store.listApiTokens({ account: producer }),
    })),

    revokeApiToken: studio(studioApi.revokeApiToken, async ({ producer, params, idempotency }) => {
      await store.revokeApiToken({ account: producer, id: params.token_id ?? '' }, idempotency);
      return null;
    }),
  };
}
