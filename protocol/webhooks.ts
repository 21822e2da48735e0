import { z } from 'zod';
import { pageLimit } from './query.ts';
import { quizSchema } from './quizzes.ts';
import { httpUrl, unixMs, uuid } from './text.ts';

/** Event types that a webhook can subscribe to. */
export const WEBHOOK_EVENTS = [
  'stream.started',
  'stream.ended',
  'audience.minute',
  'quiz.closed',
  'winners',
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];

const deliveryTypeSchema = z.enum([...WEBHOOK_EVENTS, 'test']);
export type DeliveryType = z.infer<typeof deliveryTypeSchema>;

const hasNoCredentials = (value: string) => {
  const url = URL.parse(value);
  return url !== null && url.username === '' && url.password === '';
};

const webhookFields = {
  url: httpUrl
    .refine(hasNoCredentials, 'must not have a user name or a password')
    .meta({ description: 'https, and http where the service allows it' }),
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .min(1)
    .max(WEBHOOK_EVENTS.length)
    .refine((events) => new Set(events).size === events.length, 'must be distinct'),
  enabled: z.boolean(),
};

const EXAMPLE_URL = 'https://hooks.example.org/fourbeat';

/** A webhook to make: where to send what. */
export const newWebhookSchema = z
  .strictObject({ ...webhookFields, enabled: webhookFields.enabled.default(true) })
  .meta({ id: 'NewWebhook', examples: [{ url: EXAMPLE_URL, events: ['winners'] }] });
export type NewWebhook = z.infer<typeof newWebhookSchema>;

export const webhookPatchSchema = z
  .strictObject(webhookFields)
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'name at least one field to change')
  .meta({ id: 'WebhookPatch', minProperties: 1, examples: [{ enabled: false }] });
export type WebhookPatch = z.infer<typeof webhookPatchSchema>;

const EXAMPLE = {
  id: '2c5ea4c0-4067-4fe9-8bad-9b1deb4d3b7d',
  url: EXAMPLE_URL,
  events: ['quiz.closed', 'winners'],
  enabled: true,
  created: 1_760_000_000_000,
  failingSince: null,
  disabledReason: null,
};

export const webhookSchema = z
  .object({
    id: uuid,
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    enabled: z.boolean(),
    created: unixMs,
    failingSince: unixMs
      .nullable()
      .meta({ description: 'The first failure after the last success; null when all is well' }),
    disabledReason: z.enum(['gone', 'failing']).nullable().meta({
      description:
        'Why the service disabled it: `gone`, it answered 410; `failing`, nothing but failures for three days',
    }),
  })
  .meta({ id: 'Webhook', examples: [EXAMPLE] });
export type Webhook = z.infer<typeof webhookSchema>;

export const createdWebhookSchema = webhookSchema
  .extend({
    secret: z.string().meta({ description: 'Signs what is sent; it is never shown again' }),
  })
  .meta({
    id: 'CreatedWebhook',
    examples: [{ ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }],
  });

/** Why there was no answer. */
export const ATTEMPT_ERRORS = [
  'setting',
  'dns',
  'address',
  'connection',
  'tls',
  'timeout',
] as const;

const attemptSchema = z
  .object({
    at: unixMs,
    status: z
      .int()
      .min(100)
      .max(999)
      .nullable()
      .meta({ description: 'Of the answer, if one came' }),
    error: z.enum(ATTEMPT_ERRORS).nullable().meta({
      description:
        'Why none came: `setting`, http is not allowed here; `dns`, the name has no address; `address`, it has one that webhooks may not reach; `connection`; `tls`, such as a certificate that is not valid; `timeout`, after 10 s',
    }),
    ms: z.int().min(0).meta({ description: 'How long it took' }),
  })
  .meta({ id: 'DeliveryAttempt' });
export type Attempt = z.infer<typeof attemptSchema>;

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

export const deliverySchema = z
  .object({
    id: uuid.meta({ description: 'The `webhook-id` header, the same at every attempt' }),
    type: deliveryTypeSchema,
    state: z.enum(DELIVERY_STATES),
    created: unixMs.meta({ description: 'When it happened' }),
    nextAttempt: unixMs.nullable().meta({ description: 'Null when no more are to come' }),
    body: z.string().meta({ description: 'What is sent, as it is signed' }),
    attempts: z.array(attemptSchema).meta({ description: 'The last 20, oldest first' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof deliverySchema>;

export const deliveriesSchema = z.object({
  results: z.array(deliverySchema),
  next: uuid.nullable().meta({ description: '`before` of the next page; null after the last' }),
});
export type Deliveries = z.infer<typeof deliveriesSchema>;

/** Query of the log of deliveries. */
export const deliveriesQuerySchema = z.object({
  before: uuid.optional().meta({ description: 'The id of a delivery: those before it' }),
  limit: pageLimit,
});

const streamFields = { streamId: uuid, title: z.string(), started: unixMs.nullable() };

/** The `data` of what is sent, by its type. */
export const webhookDataSchemas = {
  'stream.started': z.object({ ...streamFields, started: unixMs }),
  'stream.ended': z.object({ ...streamFields, ended: unixMs }),
  'audience.minute': z.object({
    streamId: uuid,
    minute: unixMs.meta({ description: 'When the minute began' }),
    count: z.int().min(0).meta({ description: 'Viewers at its end' }),
    peak: z.int().min(0).meta({ description: 'The most viewers in it' }),
  }),
  'quiz.closed': quizSchema.extend({
    answer: z.string().nullable().meta({ description: 'Null while it is not revealed' }),
  }),
  winners: z.object({ streamId: uuid, roundId: uuid, count: z.int().min(0) }),
  test: z.object({ webhookId: uuid }),
} satisfies Record<DeliveryType, z.ZodObject>;
export type WebhookData = { [Type in DeliveryType]: z.infer<(typeof webhookDataSchemas)[Type]> };

/** What is sent of a type, as it is signed. */
export const webhookMessageSchema = <Type extends DeliveryType>(type: Type) =>
  z.object({
    type: z.literal(type),
    timestamp: z.iso.datetime().meta({ description: 'When it happened' }),
    data: webhookDataSchemas[type],
  });
