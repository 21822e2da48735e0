import { randomUUID } from 'node:crypto';
import { type CheckedResponse, type Exercises, type Fixture, WEBHOOK } from './fixture.ts';

/** The operations about webhooks. */
export function webhookExercises(fixture: Fixture): Exercises {
  const newWebhook = () => fixture.createdId('createWebhook', { body: WEBHOOK });
  /** Calls the operation for a new webhook and for an unknown one. */
  const onWebhook = async (
    operationId: string,
    status: number,
    body?: object,
  ): Promise<CheckedResponse[]> => {
    const params = { webhook_id: await newWebhook() };
    const request = { ...(body && { body }) };
    const missing = { webhook_id: randomUUID() };
    return [
      [await fixture.sendAsAccount(operationId, { ...request, params }), status],
      [await fixture.sendAsAccount(operationId, { ...request, params: missing }), 404],
    ];
  };
  return {
    createWebhook: async () => {
      const request = { body: WEBHOOK, headers: { 'Idempotency-Key': randomUUID() } };
      return [
        [await fixture.sendAsAccount('createWebhook', request), 201],
        [await fixture.sendAsAccount('createWebhook', request), 409],
        [
          await fixture.sendAsAccount('createWebhook', { body: { ...WEBHOOK, url: 'http://a/' } }),
          400,
        ],
      ];
    },
    listWebhooks: async () => {
      await newWebhook();
      return [[await fixture.sendAsAccount('listWebhooks'), 200]];
    },
    patchWebhook: () => onWebhook('patchWebhook', 200, { enabled: false }),
    deleteWebhook: () => onWebhook('deleteWebhook', 204),
    rotateWebhookSecret: () => onWebhook('rotateWebhookSecret', 200),
    testWebhook: () => onWebhook('testWebhook', 201),
    listDeliveries: async () => {
      const webhook_id = await newWebhook();
      for (let n = 0; n < 2; n++)
        await fixture.createdId('testWebhook', { params: { webhook_id } });
      const request = { params: { webhook_id }, query: '?limit=1' };
      return [
        ...(await onWebhook('listDeliveries', 200)),
        [await fixture.sendAsAccount('listDeliveries', request), 200],
        [await fixture.sendAsAccount('listDeliveries', { ...request, query: '?limit=0' }), 400],
      ];
    },
    retryDelivery: async () => {
      const webhook_id = await newWebhook();
      const delivery_id = await fixture.createdId('testWebhook', { params: { webhook_id } });
      const params = { webhook_id, delivery_id };
      const retried = await fixture.sendAsAccount('retryDelivery', { params });
      await fixture.sendAsAccount('patchWebhook', {
        params: { webhook_id },
        body: { enabled: false },
      });
      return [
        [retried, 200],
        [await fixture.sendAsAccount('retryDelivery', { params }), 409],
        [
          await fixture.sendAsAccount('retryDelivery', {
            params: { ...params, delivery_id: webhook_id },
          }),
          404,
        ],
      ];
    },
  };
}
