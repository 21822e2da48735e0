import { z } from 'zod';
import { pageLimit } from './query.ts';
import { quizSchema } from './quizzes.ts';
import { httpUrl, patchOf, unixMs, uuid, wholeNumber } from './text.ts';

export const WEBHOOK_EVENTS = [
  'stream.started',
  'stream.ended',
  'stream.reopened',
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
    .refine(hasNoCredentials, 'must not contain a user name or a password')
    .describe('An https URL, or http where the service allows it'),
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .min(1)
    .max(WEBHOOK_EVENTS.length)
    .refine((events) => new Set(events).size === events.length, 'must be distinct'),
  enabled: z.boolean(),
};

const EXAMPLE_URL = 'https://hooks.example.org/fourbeat';

export const newWebhookSchema = z
  .strictObject({ ...webhookFields, enabled: webhookFields.enabled.default(true) })
  .meta({ id: 'NewWebhook', examples: [{ url: EXAMPLE_URL, events: ['winners'] }] });
export type NewWebhook = z.infer<typeof newWebhookSchema>;

export const webhookPatchSchema = patchOf(webhookFields).meta({
  id: 'WebhookPatch',
  minProperties: 1,
  examples: [{ enabled: false }],
});
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
      .describe('The first failure since the last success; null: the last delivery succeeded'),
    disabledReason: z
      .enum(['gone', 'failing'])
      .nullable()
      .describe(
        'Why the service disabled the webhook. `gone`: the receiver returned 410; `failing`: all deliveries failed for three days',
      ),
  })
  .meta({ id: 'Webhook', examples: [EXAMPLE] });
export type Webhook = z.infer<typeof webhookSchema>;

export const createdWebhookSchema = webhookSchema
  .extend({ secret: z.string().describe('The signing secret, shown only in this response') })
  .meta({
    id: 'CreatedWebhook',
    examples: [{ ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }],
  });

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
      .describe('Status of the response; null: there was none'),
    error: z
      .enum(ATTEMPT_ERRORS)
      .nullable()
      .describe(
        'Why there was no response. `setting`: the service does not allow http; `dns`: the host name has no address; `address`: webhooks may not reach the address; `connection`: the connection failed; `tls`: for example an invalid certificate; `timeout`: no response within 10 s',
      ),
    ms: wholeNumber.describe('Duration of the attempt'),
  })
  .meta({ id: 'DeliveryAttempt' });
export type Attempt = z.infer<typeof attemptSchema>;

export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

export const deliverySchema = z
  .object({
    id: uuid.describe('The `webhook-id` header, the same for all attempts'),
    type: deliveryTypeSchema,
    state: z.enum(DELIVERY_STATES),
    created: unixMs.describe('When the event occurred'),
    nextAttempt: unixMs.nullable().describe('Null: there are no more attempts'),
    body: z.string().describe('The body, as it is signed'),
    attempts: z.array(attemptSchema).describe('The last 20 attempts, oldest first'),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.infer<typeof deliverySchema>;

export const deliveriesSchema = z.object({
  results: z.array(deliverySchema),
  next: uuid
    .nullable()
    .describe('Pass it as `before` to read the next page; null after the last page'),
});
export type Deliveries = z.infer<typeof deliveriesSchema>;

export const deliveriesQuerySchema = z.object({
  before: uuid.optional().describe('Return only deliveries before the one with this id'),
  limit: pageLimit,
});

const streamFields = { streamId: uuid, title: z.string(), started: unixMs.nullable() };

/** The `data` of a delivery, by type. */
export const webhookDataSchemas = {
  'stream.started': z.object({ ...streamFields, started: unixMs }),
  'stream.ended': z.object({ ...streamFields, ended: unixMs }),
  'stream.reopened': z.object({ ...streamFields, reopened: unixMs }),
  'audience.minute': z.object({
    streamId: uuid,
    minute: unixMs.describe('Start of the minute'),
    count: wholeNumber.describe('Viewers at the end of the minute'),
    peak: wholeNumber.describe('The most viewers during the minute'),
  }),
  'quiz.closed': quizSchema.extend({
    answer: z.string().nullable().describe('The correct choice; null before the reveal'),
  }),
  winners: z.object({ streamId: uuid, roundId: uuid, count: wholeNumber }),
  test: z.object({ webhookId: uuid }),
} satisfies Record<DeliveryType, z.ZodObject>;
export type WebhookData = { [Type in DeliveryType]: z.infer<(typeof webhookDataSchemas)[Type]> };

/** The body of a delivery of a type, as it is signed. */
export const webhookMessageSchema = <Type extends DeliveryType>(type: Type) =>
  z.object({
    type: z.literal(type),
    timestamp: z.iso.datetime().describe('When the event occurred'),
    data: webhookDataSchemas[type],
  });
