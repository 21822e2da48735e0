import type { Operation } from './operation.ts';
import { listOf } from './studio.ts';
import { ownerRead, ownerWrite } from './studio-operation.ts';
import {
  createdWebhookSchema,
  deliveriesQuerySchema,
  deliveriesSchema,
  deliverySchema,
  newWebhookSchema,
  webhookPatchSchema,
  webhookSchema,
} from './webhooks.ts';

const webhook = { 200: { description: 'The webhook', schema: webhookSchema } };

/** Webhooks (SPEC H). */
export const webhooksApi = {
  createWebhook: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks',
    summary: 'Create a webhook; its secret is shown once',
    body: newWebhookSchema,
    responses: { 201: { description: 'The webhook', schema: createdWebhookSchema } },
    errors: [409],
  },
  listWebhooks: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/webhooks',
    summary: "List the account's webhooks, newest first",
    responses: { 200: { description: 'The webhooks', schema: listOf(webhookSchema) } },
  },
  patchWebhook: {
    ...ownerWrite,
    method: 'PATCH',
    path: '/studio/v1/webhooks/{webhook_id}',
    summary: 'Change or enable a webhook',
    description: 'Disabling a webhook cancels its pending deliveries.',
    body: webhookPatchSchema,
    responses: webhook,
  },
  deleteWebhook: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/webhooks/{webhook_id}',
    summary: 'Delete a webhook and its deliveries',
    responses: { 204: { description: 'Deleted' } },
  },
  rotateWebhookSecret: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/rotate-secret',
    summary: 'Replace the secret; the new one is shown once',
    description:
      'For 24 hours deliveries are also signed with the previous secret. A further rotation in this time keeps that secret and its end.',
    responses: { 200: { description: 'The webhook', schema: createdWebhookSchema } },
  },
  testWebhook: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/test',
    summary: 'Send a `test` delivery',
    responses: { 201: { description: 'The delivery', schema: deliverySchema } },
  },
  listDeliveries: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/webhooks/{webhook_id}/deliveries',
    summary: 'List the deliveries of a webhook, newest first',
    query: deliveriesQuerySchema,
    responses: { 200: { description: 'A page of deliveries', schema: deliveriesSchema } },
    errors: [404],
  },
  retryDelivery: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
    summary: 'Retry a delivery now',
    responses: { 200: { description: 'The delivery', schema: deliverySchema } },
  },
} as const satisfies Record<string, Operation>;
