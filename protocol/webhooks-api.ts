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

/** Webhooks, the part of the producer's API by which other programs are told (SPEC H). */
export const webhooksApi = {
  createWebhook: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks',
    summary: 'A new webhook; its secret is shown this once',
    body: newWebhookSchema,
    responses: { 201: { description: 'The webhook', schema: createdWebhookSchema } },
    errors: [409],
  },
  listWebhooks: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/webhooks',
    summary: "The account's webhooks, newest first",
    responses: { 200: { description: 'The webhooks', schema: listOf(webhookSchema) } },
  },
  patchWebhook: {
    ...ownerWrite,
    method: 'PATCH',
    path: '/studio/v1/webhooks/{webhook_id}',
    summary: 'Change a webhook, or enable it again',
    description: 'To disable it gives up what waits to be sent.',
    body: webhookPatchSchema,
    responses: webhook,
    errors: [404, 409],
  },
  deleteWebhook: {
    ...ownerWrite,
    method: 'DELETE',
    path: '/studio/v1/webhooks/{webhook_id}',
    summary: 'Delete a webhook, with its log',
    responses: { 204: { description: 'Deleted' } },
    errors: [404, 409],
  },
  rotateWebhookSecret: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/rotate-secret',
    summary: 'A new secret, shown this once',
    description: 'For 24 hours what is sent is signed with the one before as well.',
    responses: { 200: { description: 'The webhook', schema: createdWebhookSchema } },
    errors: [404, 409],
  },
  testWebhook: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/test',
    summary: 'Send a delivery of the type `test`',
    responses: { 201: { description: 'The delivery', schema: deliverySchema } },
    errors: [404, 409],
  },
  listDeliveries: {
    ...ownerRead,
    method: 'GET',
    path: '/studio/v1/webhooks/{webhook_id}/deliveries',
    summary: 'What was sent to a webhook or waits to be, newest first',
    query: deliveriesQuerySchema,
    responses: { 200: { description: 'A page of the log', schema: deliveriesSchema } },
    errors: [404],
  },
  retryDelivery: {
    ...ownerWrite,
    method: 'POST',
    path: '/studio/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/retry',
    summary: 'Send a delivery again, now',
    responses: { 200: { description: 'The delivery', schema: deliverySchema } },
    errors: [404, 409],
  },
} as const satisfies Record<string, Operation>;
