import type { Operation } from '../../protocol/operation.ts';
import { problemSchema } from '../../protocol/problem.ts';
import { Problem, type Scheme } from '../http/problem.ts';
import type { JsonObject, OpenApiSchemas } from './openapi-schemas.ts';

/** Headers that the document defines once, under `components.headers`. */
export const HEADERS: JsonObject = {
  Allow: header('Methods that this path supports', { type: 'string' }),
  Vary: header('Always `Accept`', { type: 'string', const: 'Accept' }),
  RequestId: header('Identifies the request in the log; the id of the request if it sent one', {
    type: 'string',
    pattern: '^[A-Za-z0-9._-]{1,64}$',
  }),
  ContentTypeOptions: header('Always `nosniff`', { type: 'string', const: 'nosniff' }),
  NoStore: header('Always `no-store`', { type: 'string', const: 'no-store' }),
};

/** Headers of every response, errors included (SPEC G-2, G-3, G-6). */
export const COMMON_HEADERS: JsonObject = {
  Allow: { $ref: '#/components/headers/Allow' },
  Vary: { $ref: '#/components/headers/Vary' },
  'X-Content-Type-Options': { $ref: '#/components/headers/ContentTypeOptions' },
  'Cache-Control': { $ref: '#/components/headers/NoStore' },
};

/** Header of errors and of every response of the studio API (SPEC G-30). */
export const REQUEST_ID: JsonObject = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
};

/** Describes a response header. */
export function header(description: string, schema: JsonObject, required = true): JsonObject {
  return { ...(description && { description }), required, schema };
}

interface ErrorResponse {
  readonly status: number;
  readonly description: string;
  readonly headers?: JsonObject;
}

const RETRY_AFTER = {
  'Retry-After': header('Seconds to wait before a retry', { type: 'integer', minimum: 1 }),
};
const scheme = (name: Scheme) => ({
  'WWW-Authenticate': header('The kind of credential that the operation needs', {
    type: 'string',
    const: name,
  }),
});

// By name under `components.responses`.
const ERRORS = {
  BadRequest: {
    status: 400,
    description: 'The request is invalid; `detail` describes what to change',
  },
  ViewerUnauthorized: {
    status: 401,
    description: 'No viewer token, or one that is invalid, expired or for another stream',
    headers: scheme('Bearer'),
  },
  ServiceUnauthorized: {
    status: 401,
    description: 'No credential, or one that is invalid or not permitted',
    headers: scheme('Token'),
  },
  NotFound: {
    status: 404,
    description: 'There is no such object, or it belongs to another account',
  },
  RequestTimeout: { status: 408, description: 'The body was sent too slowly' },
  Conflict: {
    status: 409,
    description:
      'The current state does not allow the operation, or the Idempotency-Key was used for another request',
  },
  ContentTooLarge: { status: 413, description: 'The body is too large' },
  UnsupportedMediaType: { status: 415, description: 'The body is not application/json in UTF-8' },
  TooManyRequests: { status: 429, description: 'Too many requests', headers: RETRY_AFTER },
  ServiceUnavailable: {
    status: 503,
    description: 'The service is temporarily unavailable; a write may or may not have taken effect',
    headers: RETRY_AFTER,
  },
} satisfies Record<string, ErrorResponse>;

/** The error responses of all operations, once each. */
export function errorResponses(schemas: OpenApiSchemas): JsonObject {
  const schema = schemas.of(problemSchema, 'output');
  return Object.fromEntries(
    Object.entries<ErrorResponse>(ERRORS).map(([name, { status, description, headers }]) => {
      const content = {
        schema,
        example: new Problem(status, 'Describes what is wrong and what to change.').body(),
      };
      return [
        name,
        {
          description,
          headers: { ...COMMON_HEADERS, ...REQUEST_ID, ...headers },
          content: { 'application/json': content, 'application/problem+json': content },
        },
      ];
    }),
  );
}

/**
 * References to the error responses of an operation, by status.
 * @throws Error for a status without a description here
 */
export function errorReferences(operation: Operation): JsonObject {
  const { access, method, body, role, errors = [] } = operation;
  const statuses = new Set([400, ...errors]);
  if (access !== 'public') statuses.add(401).add(429);
  if (method !== 'GET') statuses.add(408).add(413);
  if (body) statuses.add(415);
  if (role !== 'always') statuses.add(503);
  const otherScheme = access === 'viewer' ? 'ServiceUnauthorized' : 'ViewerUnauthorized';
  return Object.fromEntries(
    [...statuses].map((status) => {
      const match = Object.entries(ERRORS).find(
        ([name, response]) => response.status === status && name !== otherScheme,
      );
      if (!match) throw new Error(`${operation.path} returns ${status}, which is not described`);
      return [status, { $ref: `#/components/responses/${match[0]}` }];
    }),
  );
}
