import type { z } from 'zod';
import { CSRF_HEADER } from '../../protocol/members.ts';
import type { Access, Operation, ResponseDescription } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { NON_UUID_IDS } from '../http/parameters.ts';
import {
  COMMON_HEADERS,
  errorReferences,
  errorResponses,
  HEADERS,
  header,
  REQUEST_ID,
} from './openapi-errors.ts';
import { type JsonObject, OpenApiSchemas } from './openapi-schemas.ts';
import { webhookItems } from './openapi-webhooks.ts';

/** The parts of an OpenAPI 3.1 document that this program accesses. */
export interface OpenApiDocument extends JsonObject {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, JsonObject>>;
  readonly webhooks: Record<string, Record<string, JsonObject>>;
  readonly components: Record<string, JsonObject>;
}

const DESCRIPTION = `A live event audience service: viewer tokens, exact view counts, quizzes and
winners, and a feed of 250-ms intervals.

Every error has the members \`type\`, \`title\`, \`status\` and \`detail\` of RFC 9457, as
\`application/problem+json\` if \`Accept\` names it. A trailing slash makes no difference. \`HEAD\` works
wherever \`GET\` does, \`OPTIONS\` everywhere. An unsupported method returns 405, an unknown path 404.`;

interface Tag {
  readonly name: string;
  readonly description: string;
  /** Matches the paths of its operations. The first matching tag counts. */
  readonly paths: RegExp;
}

const TAGS: readonly Tag[] = [
  { name: 'Clock', description: 'Service time and intervals', paths: /^\/api\/v1\/time/ },
  { name: 'Account', description: 'The account of a service token', paths: /^\/api\/v1\/users/ },
  { name: 'Streams', description: 'Streams of a producer', paths: /^\/api\/v1\/streams/ },
  {
    name: 'Viewer tokens',
    description: 'Tokens of viewers and the keys to verify them',
    paths: /v1\/token$|jwks/,
  },
  { name: 'View counts', description: 'The number of viewers', paths: /view-counts/ },
  { name: 'Quizzes', description: 'Answers and winners', paths: /^\/api\/v1\/quizzes/ },
  { name: 'Feed', description: 'Events of a stream, and chat posts', paths: /events-streams/ },
  {
    name: 'Studio: members',
    description: 'Sessions, members and their roles',
    paths: /^\/studio\/v1\/(session|setup|invitations|members)/,
  },
  {
    name: 'Studio: account',
    description: 'The account and its service tokens',
    paths: /account|api-tokens/,
  },
  {
    name: 'Studio: streams',
    description: 'Create and run shows',
    paths: /^\/studio\/v1\/streams(?!.*\/(quizzes|rundown|request-winners|winners-rounds|exports))/,
  },
  {
    name: 'Studio: quizzes',
    description: 'Quizzes, the rundown and winners',
    paths: /^\/studio(?!.*\/exports).*\/(quizzes|rundown|request-winners|winners-rounds)/,
  },
  { name: 'Studio: exports', description: 'Recorded data of a show', paths: /\/exports\// },
  { name: 'Studio: webhooks', description: 'Notifications of other programs', paths: /\/webhooks/ },
];

/** The credentials of an operation. A write with a session cookie also needs the CSRF token. */
function securityOf({ access, method, takesPresenterKey }: Operation): readonly JsonObject[] {
  const session = method === 'GET' ? { Session: [] } : { Session: [], CsrfToken: [] };
  const security: Readonly<Record<Access, readonly JsonObject[]>> = {
    public: [],
    optional: [{}, { ServiceToken: [] }, { ViewerToken: [] }],
    configured: [{}, { ServiceToken: [] }],
    viewer: [{ ViewerToken: [] }],
    service: [{ ServiceToken: [] }],
    studio: [{ ServiceToken: [] }, session],
    session: [session],
  };
  return [...security[access], ...(takesPresenterKey ? [{ PresenterKey: [] }] : [])];
}

const SECURITY_SCHEMES: JsonObject = {
  ViewerToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'From `POST /api/v1/token`; valid for one stream and 10 minutes',
  },
  ServiceToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word `Token`, a space and the service token: `Token fb_…`',
  },
  PresenterKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description:
      'The word `Presenter`, a space and the presenter key of the show: `Presenter pk_…`',
  },
  Session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'fourbeat',
    description:
      'Set by signing in. Its name is `__Host-fourbeat` over https. An `Authorization` header takes precedence',
  },
  CsrfToken: {
    type: 'apiKey',
    in: 'header',
    name: CSRF_HEADER,
    description: 'The `csrf` of the session, for every write with a session cookie',
  },
};

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  stream_id: "The stream's id",
  quiz_id: "The quiz's id",
  token_id: 'The id of the service token, not the token itself',
  member_id: "The member's uuid",
  invitation_id: "The invitation's id",
  webhook_id: "The webhook's id",
  delivery_id: "The delivery's id",
  viewer: 'The opaque id of the viewer, as in chat messages',
  line_id: 'The id of a chat message',
};

/**
 * The OpenAPI 3.1 document of the whole API, generated from the operations that also drive routing and
 * validation (SPEC O-15).
 * @param version version of the program
 */
export function openApiDocument(version: string): OpenApiDocument {
  const schemas = new OpenApiSchemas();
  const operations: Record<string, Operation> = { ...viewerApi, ...studioApi };
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const [operationId, operation] of Object.entries(operations)) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operationId, operation, schemas),
    };
  }
  const responses = errorResponses(schemas);
  const webhooks = webhookItems(schemas);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Fourbeat',
      version,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: schemas.components,
      responses,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function describeOperation(
  operationId: string,
  operation: Operation,
  schemas: OpenApiSchemas,
): JsonObject {
  const { path, summary, body, bodyOptional, bodyBytes } = operation;
  const description = operationDescription(operation);
  const tag = TAGS.find(({ paths }) => paths.test(path));
  if (!tag) throw new Error(`no tag fits ${path}`);
  const parameters = operationParameters(operation, schemas);
  return {
    operationId,
    tags: [tag.name],
    summary,
    ...(description && { description }),
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyOptional,
        description: `At most ${bodyBytes} bytes`,
        content: { 'application/json': { schema: schemas.of(body, 'input') } },
      },
    }),
    responses: {
      ...errorReferences(operation),
      ...Object.fromEntries(
        Object.entries(operation.responses).map(([status, response]) => [
          status,
          describeResponse(response, operation, schemas),
        ]),
      ),
    },
  };
}

/** The description of an operation, with the roles that may call it. */
function operationDescription({ description = '', roles }: Operation): string {
  if (!roles) return description;
  const permission = `Allowed roles: ${roles.join(', ')}. A service token acts as an owner.`;
  return `${description} ${permission}`.trimStart();
}

function operationParameters(
  { path, query, headers }: Operation,
  schemas: OpenApiSchemas,
): JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: PATH_PARAMETERS[name],
    schema: NON_UUID_IDS[name]
      ? schemas.of(NON_UUID_IDS[name], 'input')
      : { type: 'string', format: 'uuid' },
  }));
  return [
    ...inPath,
    ...namedParameters('query', query, schemas),
    ...namedParameters('header', headers, schemas),
  ];
}

function namedParameters(
  location: 'query' | 'header',
  fields: z.ZodObject | undefined,
  schemas: OpenApiSchemas,
): JsonObject[] {
  if (!fields) return [];
  const { properties, required = [] } = schemas.of(fields, 'input') as {
    properties: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

function describeResponse(
  response: ResponseDescription,
  { role }: Operation,
  schemas: OpenApiSchemas,
): JsonObject {
  const { description, schema, otherTypes, headers } = response;
  const content = {
    ...(schema && { 'application/json': { schema: schemas.of(schema, 'output') } }),
    ...Object.fromEntries(
      Object.entries(otherTypes ?? {}).map(([type, other]) => [
        type,
        { schema: schemas.of(other, 'output') },
      ]),
    ),
  };
  return {
    description,
    headers: {
      ...COMMON_HEADERS,
      ...(role === 'studio' && REQUEST_ID),
      ...Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, value]) => [
          name,
          responseHeader(value, schemas),
        ]),
      ),
    },
    ...(Object.keys(content).length > 0 && { content }),
  };
}

function responseHeader(value: z.ZodType, schemas: OpenApiSchemas): JsonObject {
  const { description = '', ...schema } = schemas.of(value, 'output');
  return header(String(description), schema, !value.safeParse(undefined).success);
}
