import { createHash } from 'node:crypto';
import type { BunRequest } from 'bun';
import type { z } from 'zod';
import type { User } from '../../protocol/accounts.ts';
import { BODY_BYTES } from '../../protocol/limits.ts';
import type { Operation } from '../../protocol/operation.ts';
import { idempotencyKeySchema } from '../../protocol/studio.ts';
import { hasBody, readBody, validate } from '../http/body.ts';
import { pathIds, readQuery } from '../http/parameters.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Handler, Route } from '../http/route.ts';
import type { Clock } from '../platform/clock.ts';
import { DomainError } from '../platform/errors.ts';
import type { Idempotency } from '../storage/sql/procedure.ts';
import { withinBudget } from '../storage/sql/request-budget.ts';
import { type Actor, type Credentials, memberUuid, type StudioCaller } from './credentials.ts';
import type { ExportSlices } from './export-slices.ts';
import { JsonText } from './json-text.ts';
import { LargeBodies } from './large-bodies.ts';
import type { LargeOperations } from './large-operations.ts';
import type { LargeResponses } from './large-responses.ts';
import type { StudioRate } from './studio-rate.ts';
import { type WriteBytes, WriteCount } from './write-bytes.ts';

/** What the handlers of all studio operations share. */
export interface StudioContext {
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly rate: StudioRate;
  readonly writeBytes: WriteBytes;
  readonly large: LargeResponses;
  readonly largeOperations: LargeOperations;
  /** Most take one short page, for a host on air: they do not wait for lists and reports. */
  readonly messageSearches: LargeOperations;
  readonly exports: ExportSlices;
  readonly log: RequestLog;
  /** The origin at which clients reach the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

/** An authorized studio request. */
export interface StudioCall {
  readonly user: User;
  /** The uuid of the account, which owns everything that the request creates. */
  readonly producer: string;
  readonly actor: Actor;
  /** Path parameters by name; see `pathIds`. */
  readonly params: Readonly<Record<string, string>>;
  readonly origin: string;
  readonly nowMs: number;
  /** Passed to the database with a write, so that it takes effect once; null without a key. */
  readonly idempotency: Idempotency | null;
  /**
   * Counts at least this number of bytes for the write (SPEC L-22), when it stores more than its body has.
   * @throws RateLimited when the limit is reached; then the write must create nothing
   */
  readonly takeBytes: (bytes: number) => void;
  /** Call it when a write that waited begins. @throws RateLimited when writes before it reached the limit */
  readonly checkBytes: () => void;
  /** Counts further bytes that the write has stored. Later writes wait for them, and this one never fails. */
  readonly addBytes: (bytes: number) => void;
}

export type BodyOf<O> = O extends { readonly body: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : undefined;

type QueryOf<O> = O extends { readonly query: infer Schema extends z.ZodObject }
  ? z.output<Schema>
  : undefined;

type ResponsesOf<O extends Operation> = O['responses'][keyof O['responses']];
/** The JSON body of an operation's success response. */
export type ResultOf<O extends Operation> =
  ResponsesOf<O> extends { readonly schema: infer Schema extends z.ZodType }
    ? z.input<Schema>
    : undefined | null;

interface StudioHandlerOptions {
  /** The operation runs as one step of `LargeOperations`. */
  readonly isLarge?: boolean;
}

/** Creates the handler of a studio operation from a function that runs it. */
export type StudioHandlerFactory = <O extends Operation>(
  operation: O,
  run: (call: StudioCall, body: BodyOf<O>, query: QueryOf<O>) => Promise<ResultOf<O> | JsonText>,
  options?: StudioHandlerOptions,
) => Handler;

/**
 * Handlers check the credential, the rate, the body, the Idempotency-Key and the query (in this order,
 * SPEC G-17), run the operation, and respond with its success status. Writes are logged.
 */
export function studioHandlerFactory(context: StudioContext): StudioHandlerFactory {
  const largeBodies = new LargeBodies();
  return (operation, run, { isLarge = false } = {}) => {
    const status = successStatus(operation);
    const isCounted = storesBytes(operation);
    const handle = async (...[request, route]: Parameters<Handler>): Promise<Response> => {
      const requestId = context.log.requestId(request);
      const caller = await authorizeStudio(context, request, route);
      const body =
        operation.bodyBytes > BODY_BYTES
          ? await largeBodies.run(caller.user.uuid, (beforeParse) =>
              readOperationBody(operation, request, beforeParse),
            )
          : await readOperationBody(operation, request);
      // A client may send the body seconds later: the credential or the role may have ended since.
      if (operation.body) await context.credentials.studio(request, route);
      const write = new WriteCount(context.writeBytes, caller);
      const call: StudioCall = {
        ...createCall(context, request, operation, caller, body),
        takeBytes: (bytes) => write.take(bytes),
        checkBytes: () => write.check(),
        addBytes: (bytes) => write.add(bytes),
      };
      const query = readOperationQuery(operation, request);
      // Before it waits for its turn.
      if (isLarge && Object.values(call.params).includes('')) {
        throw new DomainError('not-found', 'There is nothing with this id.');
      }
      const bodyBytes = isCounted ? Buffer.byteLength(JSON.stringify(body ?? null)) : 0;
      write.take(bodyBytes);
      const work = async () => {
        if (isLarge && isCounted) write.check();
        const result = await run(call, body, query);
        const json = jsonOf(result);
        // What the write created, and what R-11 keeps. A result in parts was read after the write, and is not kept.
        if (isCounted && json !== result) write.add(bodyBytes + json.bytes);
        return json;
      };
      const json = isLarge
        ? await context.largeOperations.run(call, (step) => step(work))
        : await work();
      if (operation.method !== 'GET') {
        context.log.logWrite(
          operation,
          requestId,
          caller.user.uuid,
          status,
          memberUuid(caller.actor),
        );
      }
      const headers = { 'X-Request-Id': requestId };
      if (status === 204) return successResponse(route, status, null, headers);
      const sent = context.large.json({ request, route, caller }, json);
      return new Response(sent, { status, headers: { ...route.jsonHeaders, ...headers } });
    };
    return (request, route) => withinBudget(() => handle(request, route));
  };
}

const jsonOf = (result: unknown): JsonText =>
  result instanceof JsonText ? result : new JsonText([JSON.stringify(result ?? null)]);

/** Whether the bytes of an operation count (SPEC L-22). A preview of an import takes no key: it stores nothing. */
const storesBytes = ({ method, headers }: Operation): boolean =>
  method !== 'GET' && headers !== undefined && 'Idempotency-Key' in headers.shape;

/**
 * Authenticates a studio request and charges the rate limits of its account and member. While the member
 * has too many large responses unread, it refuses the request.
 * @throws DomainError `unauthorized`
 * @throws RateLimited
 */
export async function authorizeStudio(
  context: StudioContext,
  request: Request,
  route: Route,
): Promise<StudioCaller> {
  const caller = await context.credentials.studio(request, route);
  context.rate.take(caller.user.uuid, memberUuid(caller.actor));
  context.large.check(caller);
  return caller;
}

/** The stream in the path of a call, with the account that must own it. */
export const ownStreamInput = ({ producer, params }: StudioCall) => ({
  streamId: params.stream_id ?? '',
  producer,
});

/**
 * The error for a repeated request that created a secret: the secret is shown once and not stored.
 * @param secret what it is, with its article
 */
export function secretAlreadyShown(secret: string): DomainError {
  return new DomainError(
    'conflict',
    `A request with this Idempotency-Key already created ${secret}, which is shown only once. Send a new key.`,
  );
}

/** The success response of an operation; 204 has no body. */
export function successResponse(
  route: Route,
  status: number,
  result: unknown,
  headers: Record<string, string>,
): Response {
  return status === 204
    ? new Response(null, { status, headers: { ...route.headers, ...headers } })
    : route.respond(status, result, headers);
}

/** The success status of an operation: the first one that it describes. */
export function successStatus({ responses }: Operation): number {
  const [status] = Object.keys(responses);
  return Number(status);
}

function readOperationQuery<O extends Operation>({ query }: O, request: Request): QueryOf<O> {
  return (query && readQuery(request, query)) as QueryOf<O>;
}

/** Reads and validates the body of an operation. @throws Problem 415, 413, 408 or 400 */
export async function readOperationBody<O extends Operation>(
  operation: O,
  request: Request,
  beforeParse?: () => Promise<void>,
): Promise<BodyOf<O>> {
  const { body, bodyOptional, bodyBytes } = operation;
  if (!body) return undefined as BodyOf<O>;
  const isSent = !bodyOptional || hasBody(request);
  return (
    isSent ? await readBody(request, body, bodyBytes, beforeParse) : validate(body, {})
  ) as BodyOf<O>;
}

function createCall(
  context: StudioContext,
  request: BunRequest<string>,
  operation: Operation,
  { user, actor }: StudioCaller,
  body: unknown,
): Omit<StudioCall, 'takeBytes' | 'checkBytes' | 'addBytes'> {
  const params = pathIds(request);
  const nowMs = context.clock.nowMs();
  const key = operation.method === 'GET' ? null : request.headers.get('idempotency-key');
  if (key !== null && !idempotencyKeySchema.safeParse(key).success) {
    throw new DomainError('invalid', 'Idempotency-Key must be 1 to 128 visible ASCII characters.');
  }
  const idempotency =
    key === null ? null : idempotencyOf(operation, params, body, user.uuid, key, nowMs);
  const origin = context.originOf(request);
  return { user, producer: user.uuid, actor, params, origin, nowMs, idempotency };
}

// The fingerprint uses the validated body: whitespace and the order of members do not make another
// request. The order inside `data` of a custom event counts, because viewers receive it as sent.
function idempotencyOf(
  { method, path }: Operation,
  params: Record<string, string>,
  body: unknown,
  owner: string,
  key: string,
  nowMs: number,
): Idempotency {
  const request = JSON.stringify([method, path, params, body ?? null]);
  const fingerprint = createHash('sha256').update(request).digest('hex');
  return { owner, key, fingerprint, nowMs };
}
