import { studioApi } from '../../../protocol/studio-api.ts';
import {
  type StudioCall,
  type StudioHandlerFactory,
  secretAlreadyShown,
} from '../../auth/studio-handler.ts';
import { DomainError } from '../../platform/errors.ts';
import { type AddressPolicy, urlProblem } from '../../platform/network-policy.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { deliveryProcedures } from './deliveries-sql.ts';
import { newSecret } from './signing.ts';
import type { webhookProcedures } from './webhooks-sql.ts';

export interface WebhookRoutes {
  readonly store: Calls<typeof webhookProcedures> &
    Pick<Calls<typeof deliveryProcedures>, 'testWebhook' | 'listDeliveries' | 'retryDelivery'>;
  readonly newId: () => string;
  /** Secure random bytes, for secrets. */
  readonly randomBytes: (n: number) => Uint8Array;
  readonly webhookPolicy: AddressPolicy;
}

/** Operations of the studio API on webhooks and their deliveries (SPEC H). */
export function webhookHandlers(
  studio: StudioHandlerFactory,
  { store, newId, randomBytes, webhookPolicy }: WebhookRoutes,
) {
  const checkUrl = (url: string | undefined): void => {
    const problem = url === undefined ? null : urlProblem(url, webhookPolicy);
    if (problem !== null) throw new DomainError('invalid', `url: ${problem}.`);
  };
  return {
    createWebhook: studio(studioApi.createWebhook, async (call, webhook) => {
      checkUrl(webhook.url);
      const { producer: account, nowMs, idempotency } = call;
      const [id, secret] = [newId(), newSecret(randomBytes)];
      const made = await store.createWebhook({ id, account, webhook, secret, nowMs }, idempotency);
      if (made.id !== id) throw secretAlreadyShown('a secret');
      const state = { created: nowMs, failingSince: null, disabledReason: null };
      return { id, ...webhook, ...state, secret };
    }),

    listWebhooks: studio(studioApi.listWebhooks, async ({ producer: account }) => ({
      results: await store.listWebhooks({ account }),
    })),

    patchWebhook: studio(studioApi.patchWebhook, async (call, patch) => {
      checkUrl(patch.url);
      return store.patchWebhook({ ...ownWebhook(call), patch }, call.idempotency);
    }),

    deleteWebhook: studio(studioApi.deleteWebhook, async (call) => {
      await store.deleteWebhook(ownWebhook(call), call.idempotency);
      return null;
    }),

    rotateWebhookSecret: studio(studioApi.rotateWebhookSecret, async (call) => {
      const { nowMs, idempotency } = call;
      const [rotation, secret] = [newId(), newSecret(randomBytes)];
      const input = { ...ownWebhook(call), rotation, secret, nowMs };
      const made = await store.rotateWebhookSecret(input, idempotency);
      if (made.rotation !== rotation) throw secretAlreadyShown('a secret');
      return { ...made.webhook, secret };
    }),

    testWebhook: studio(studioApi.testWebhook, (call) =>
      store.testWebhook({ ...ownWebhook(call), key: newId(), nowMs: call.nowMs }, call.idempotency),
    ),

    listDeliveries: studio(
      studioApi.listDeliveries,
      (call, _, { before = null, limit }) =>
        store.listDeliveries({ ...ownWebhook(call), before, limit }),
      { isLarge: true },
    ),

    retryDelivery: studio(studioApi.retryDelivery, (call) => {
      const { params, nowMs, idempotency } = call;
      const input = { ...ownWebhook(call), delivery: params.delivery_id ?? '', nowMs };
      return store.retryDelivery(input, idempotency);
    }),
  };
}

const ownWebhook = ({ producer, params }: StudioCall) => ({
  id: params.webhook_id ?? '',
  account: producer,
});
