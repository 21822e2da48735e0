import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { Handlers } from '../../http/route.ts';
import { secretAlreadyShown } from '../../http/shown-once.ts';
import type { StudioHandlerFactory } from '../studio-operation.ts';
import { newToken } from './new-token.ts';

export interface ApiTokenDeps {
  readonly store: Pick<Store, 'createApiToken' | 'listApiTokens' | 'revokeApiToken'>;
  readonly newId: () => string;
  /** Secure random bytes, for secrets. */
  readonly randomBytes: (n: number) => Uint8Array;
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
      const { secret, stored } = newToken(id, name, randomBytes);
      const made = await store.createApiToken(
        { account: call.producer, token: stored, nowMs: call.nowMs },
        call.idempotency,
      );
      if (made.id !== id) throw secretAlreadyShown('a token');
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
