import {
  type DeliveryType,
  webhookDataSchemas,
  webhookMessageSchema,
} from '../../protocol/webhooks.ts';
import type { JsonObject, OpenApiSchemas } from './openapi-schemas.ts';

/** Of the operations by which webhooks are made. */
const TAG = 'Studio: webhooks';

const SUMMARIES: Readonly<Record<DeliveryType, string>> = {
  'stream.started': 'A stream began',
  'stream.ended': 'A stream ended, whatever ended it',
  'audience.minute': 'A minute of a stream is over',
  'quiz.closed': 'A quiz is closed and counted',
  winners: 'The winners of a round are counted',
  test: 'Somebody asked for a test',
};

const DESCRIPTION = `Sent to each webhook that asks for it, once; the same \`webhook-id\` may come again
when an answer was lost. It is signed as [Standard Webhooks](https://www.standardwebhooks.com) has it,
and libraries for that check it.`;

const PARAMETERS = [
  headerParameter('webhook-id', 'Names the delivery; the same at every attempt', {
    type: 'string',
    format: 'uuid',
  }),
  headerParameter('webhook-timestamp', 'Unix time of the attempt, in seconds', {
    type: 'string',
    pattern: '^\\d+$',
  }),
  headerParameter(
    'webhook-signature',
    'One or, after a rotation, two: `v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64, by the bytes that the secret has behind `whsec_`, in base64',
    { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' },
  ),
];

const RESPONSES: JsonObject = {
  '2XX': { description: 'It arrived' },
  '410': { description: 'Nothing more is wanted: the webhook is disabled' },
  default: {
    description:
      'It did not arrive, nor when there is no answer within 10 s; it is sent again for a day, more and more seldom. Redirects are not followed',
  },
};

function headerParameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'header', required: true, description, schema };
}

/** The `webhooks` of the document: what the service sends, by its type (SPEC H-23). */
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
