import {
  type DeliveryType,
  webhookDataSchemas,
  webhookMessageSchema,
} from '../../protocol/webhooks.ts';
import type { JsonObject, OpenApiSchemas } from './openapi-schemas.ts';

/** The tag of the operations that manage webhooks. */
const TAG = 'Studio: webhooks';

const SUMMARIES: Readonly<Record<DeliveryType, string>> = {
  'stream.started': 'A stream started',
  'stream.ended': 'A stream ended, for any reason',
  'stream.reopened': 'The end of a stream was taken back',
  'audience.minute': 'A minute of a stream ended',
  'quiz.closed': 'A quiz was closed and counted',
  winners: 'The winners of a round were counted',
  test: 'A test delivery was requested',
};

const DESCRIPTION = `Sent once to each webhook that subscribes to it. A delivery is repeated with the same
\`webhook-id\` if its response was lost. It is signed according to
[Standard Webhooks](https://www.standardwebhooks.com); verify it with one of their libraries.`;

const PARAMETERS = [
  headerParameter('webhook-id', 'Identifies the delivery; the same for all attempts', {
    type: 'string',
    format: 'uuid',
  }),
  headerParameter('webhook-timestamp', 'Unix time of the attempt, in seconds', {
    type: 'string',
    pattern: '^\\d+$',
  }),
  headerParameter(
    'webhook-signature',
    'One signature or, after a rotation, two: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. The key is the base64-decoded part of the secret after `whsec_`',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
  ),
];

const RESPONSES: JsonObject = {
  '2XX': { description: 'The delivery was received' },
  '410': { description: 'The receiver wants no more deliveries: the webhook is disabled' },
  default: {
    description:
      'The delivery failed, like one without a response within 10 s. It is retried for a day, with increasing delays. Redirects are not followed',
  },
};

function headerParameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'header', required: true, description, schema };
}

/** The `webhooks` of the document, by delivery type (SPEC H-23). */
export function webhookItems(schemas: OpenApiSchemas): Record<string, Record<string, JsonObject>> {
  const types = Object.keys(webhookDataSchemas) as DeliveryType[];
  return Object.fromEntries(types.map((type) => [type, { post: webhookOperation(type, schemas) }]));
}

function webhookOperation(type: DeliveryType, schemas: OpenApiSchemas): JsonObject {
  const schema = schemas.of(webhookMessageSchema(type), 'output');
  return {
    operationId: `webhook ${type}`,
    tags: [TAG],
    summary: SUMMARIES[type],
    description: DESCRIPTION,
    security: [],
    parameters: PARAMETERS,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: RESPONSES,
  };
}
