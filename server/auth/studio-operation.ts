import { createHash } from 'node:crypto';
import type { BunRequest } from 'bun';
import type { z } from 'zod';
import type { User } from '../../protocol/accounts.ts';
import type { Operation } from '../../protocol/operation.ts';
import { idempotencyKeySchema } from '../../protocol/studio.ts';
import { hasBody, readBody, validate } from '../http/body.ts';
import { pathIds } from '../http/path-ids.ts';
import { Problem } from '../http/problem.ts';
import { readQuery } from '../http/query.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Handler, Route } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import type { RateLimiter } from '../platform/rate-limit/rate-limiter.ts';
import type { Idempotency } from '../storage/sql/procedure.ts';
import type { Actor, StudioCaller, Credentials } from './credentials.ts';

/** What the way of every studio request through the service needs. */
export interface StudioContext {
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Requests of an account (SPEC L-8). */
  readonly rate: RateLimiter;
  readonly log: RequestLog;
  /** Where this service is reached, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

/** An admitted request of a producer. */
export interface StudioCall {
  readonly user: User;
  /** The account's uuid, which owns all that it makes. */
  readonly producer: string;
  readonly actor: Actor;
  /** Ids in the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly origin: string;
  readonly nowMs: number;
  /** Goes to the database with a write, so that a repeat does nothing; null without a key. */
  readonly idempotency: Idempotency | null;
}

/** The body of an operation when it is valid. */
export type BodyOf<O> = O extends { readonly body: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : undefined;

/** The query of an operation when it is valid. */
type QueryOf<O> = O extends { readonly query: infer Schema extends z.ZodObject }
  ? z.output<Schema>
  : undefined;

type ResponsesOf<O extends Operation> = O['responses'][keyof O['responses']];
/** What an operation answers with its success. */
export type ResultOf<O extends Operation> =
  ResponsesOf<O> extends { readonly schema: infer Schema extends z.ZodType }
    ? z.input<Schema>
    : undefined | null;

/** Wraps what a studio operation does in what all of them have in common. */
export type StudioHandlerFactory = <O extends Operation>(
  operation: O,
  run: (call: StudioCall, body: BodyOf<O>, query: QueryOf<O>) => Promise<ResultOf<O>>,
) => Handler;

/**
 * Makes handlers that check the credential, the rate, the body, the Idempotency-Key and the query (in
 * this order, SPEC G-17), run the operation, and answer with its one success status.
 */
export function studioHandlerFactory(gate: StudioContext): StudioHandlerFactory {
  return (operation, run) => {
    const status = successStatus(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      const admitted = await authorizeStudio(gate, request, route);
      const body = await readOperationBody(operation, request);
      const call = createCall(gate, request, operation, admitted, body);
      const reply = await run(call, body, readOperationQuery(operation, request));
      if (operation.method !== 'GET') {
        gate.log.logWrite(operation, requestId, admitted.user.uuid, status, memberUuid(admitted.actor));
      }
      return successResponse(route, status, reply, { 'X-Request-Id': requestId });
    };
  };
}

/** Who acts, and in which account. @throws Problem 401, or 429 when it asks too often */
export async function authorizeStudio(gate: StudioContext, request: Request, route: Route): Promise<StudioCaller> {
  const admitted = await gate.credentials.studio(request, route);
  gate.rate.take(admitted.user.uuid);
  return admitted;
}

const memberUuid = (actor: Actor) => (actor.kind === 'member' ? actor.uuid : null);

/** The stream that a call is about, and whose it has to be. */
export const ownStreamInput = ({ producer, params }: StudioCall) => ({
  streamId: params.stream_id ?? '',
  producer,
});

/** The response of a success. */
export function successResponse(
  route: Route,
  status: number,
  reply: unknown,
  headers: Record<string, string>,
): Response {
  return status === 204
    ? new Response(null, { status, headers: { ...route.headers, ...headers } })
    : route.respond(status, reply, headers);
}

/** The one status with which an operation succeeds. */
export function successStatus({ responses }: Operation): number {
  const [status] = Object.keys(responses);
  return Number(status);
}

function readOperationQuery<O extends Operation>({ query }: O, request: Request): QueryOf<O> {
  return (query && readQuery(request, query)) as QueryOf<O>;
}

/** Reads the body of an operation. @throws Problem 415, 413, 408 or 400 */
export async function readOperationBody<O extends Operation>(
  operation: O,
  request: Request,
): Promise<BodyOf<O>> {
  const { body, bodyOptional, bodyBytes } = operation;
  if (!body) return undefined as BodyOf<O>;
  const isSent = !bodyOptional || hasBody(request);
  return (isSent ? await readBody(request, body, bodyBytes) : validate(body, {})) as BodyOf<O>;
}

function createCall(
  gate: StudioContext,
  request: BunRequest<string>,
  operation: Operation,
  { user, actor }: StudioCaller,
  body: unknown,
): StudioCall {
  const params = pathIds(request);
  const nowMs = gate.clock.nowMs();
  const key = operation.method === 'GET' ? null : request.headers.get('idempotency-key');
  if (key !== null && !idempotencyKeySchema.safeParse(key).success) {
    throw new Problem(400, 'Idempotency-Key must be 1 to 128 visible ASCII characters.');
  }
  const once = key === null ? null : idempotencyOf(operation, params, body, user.uuid, key, nowMs);
  const origin = gate.originOf(request);
  return { user, producer: user.uuid, actor, params, origin, nowMs, idempotency };
}

// The validated body stands for the one that was sent: white space and the order of its members do
// not make it another request. In the data of a custom event the order counts, as viewers get it.
function idempotencyOf(
  { method, path }: Operation,
  params: Record<string, string>,
  body: unknown,
  owner: string,
  key: string,
  nowMs: number,
): Idempotency {
  const asked = JSON.stringify([method, path, params, body ?? null]);
  const fingerprint = createHash('sha256').update(asked).digest('hex');
  return { owner, key, fingerprint, nowMs };
}
