import { createHash } from 'node:crypto';
import type { BunRequest } from 'bun';
import type { z } from 'zod';
import type { User } from '../../protocol/accounts.ts';
import type { Operation } from '../../protocol/operation.ts';
import { idempotencyKeySchema } from '../../protocol/studio.ts';
import type { Clock } from '../clock.ts';
import { hasBody, readBody, validate } from '../http/body.ts';
import type { Credentials } from '../http/credentials.ts';
import { idsOf } from '../http/path-ids.ts';
import { Problem } from '../http/problem.ts';
import type { Rate } from '../http/rate.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Handler, Route } from '../http/route.ts';
import type { Idempotency } from '../sql/procedure.ts';

/** What the way of every studio request through the service needs. */
export interface StudioGate {
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Requests of an account (SPEC L-8). */
  readonly rate: Rate;
  readonly log: RequestLog;
  /** Where this service is reached, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

/** An admitted request of a producer. */
export interface StudioCall {
  readonly user: User;
  /** The account's uuid, which owns all that it makes. */
  readonly producer: string;
  /** Ids in the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly origin: string;
  readonly nowMs: number;
  /** Goes to the record with a write, so that a repeat does nothing; null without a key. */
  readonly once: Idempotency | null;
}

type BodyOf<O> = O extends { readonly body: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : undefined;

type AnswersOf<O extends Operation> = O['answers'][keyof O['answers']];
type ReplyOf<O extends Operation> =
  AnswersOf<O> extends { readonly schema: infer Schema extends z.ZodType }
    ? z.input<Schema>
    : undefined | null;

/** Wraps what a studio operation does in what all of them have in common. */
export type StudioWrapper = <O extends Operation>(
  operation: O,
  run: (call: StudioCall, body: BodyOf<O>) => Promise<ReplyOf<O>>,
) => Handler;

/**
 * Makes handlers that check the credential, the rate, the body and the Idempotency-Key (in this
 * order, SPEC G-17), run the operation, and answer with its one success status.
 */
export function studioWrapper(gate: StudioGate): StudioWrapper {
  return (operation, run) => {
    const status = successOf(operation);
    return async (request, route) => {
      const requestId = gate.log.requestId(request);
      const user = await admit(gate, request, route);
      const body = await bodyOf(operation, request);
      const call = callOf(gate, request, operation, user, body);
      const reply = await run(call, body);
      if (operation.method !== 'GET') gate.log.done(operation, requestId, user.uuid, status);
      const headers = { 'X-Request-Id': requestId };
      return status === 204
        ? new Response(null, { status, headers: { ...route.bare, ...headers } })
        : route.reply(status, reply, headers);
    };
  };
}

/** The account of the request. @throws Problem 401, or 429 when it asks too often */
export async function admit(gate: StudioGate, request: Request, route: Route): Promise<User> {
  const { user } = await gate.credentials.service(request, route);
  await gate.rate.take(user.uuid);
  return user;
}

function successOf({ answers }: Operation): number {
  const [status] = Object.keys(answers);
  return Number(status);
}

async function bodyOf<O extends Operation>(operation: O, request: Request): Promise<BodyOf<O>> {
  const { body, bodyOptional, bodyBytes } = operation;
  if (!body) return undefined as BodyOf<O>;
  const isSent = !bodyOptional || hasBody(request);
  return (isSent ? await readBody(request, body, bodyBytes) : validate(body, {})) as BodyOf<O>;
}

function callOf(
  gate: StudioGate,
  request: BunRequest<string>,
  operation: Operation,
  user: User,
  body: unknown,
): StudioCall {
  const params = idsOf(request);
  const nowMs = gate.clock.nowMs();
  const key = operation.method === 'GET' ? null : request.headers.get('idempotency-key');
  if (key !== null && !idempotencyKeySchema.safeParse(key).success) {
    throw new Problem(400, 'Idempotency-Key must be 1 to 128 visible ASCII characters.');
  }
  const once = key === null ? null : onceOf(operation, params, body, user.uuid, key, nowMs);
  return { user, producer: user.uuid, params, origin: gate.originOf(request), nowMs, once };
}

// The validated body stands for the one that was sent: white space and the order of its members do
// not make it another request. In the data of a custom event the order counts, as viewers get it.
function onceOf(
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
