import type { BunRequest } from 'bun';
import type { Operation, Role } from '../../protocol/operation.ts';
import { runtime } from '../platform/runtime.ts';
import { accepts } from './accept.ts';
import { checkContentLength, discardChunkedBody } from './body.ts';
import { checkEncoding } from './parameters.ts';
import { Problem, problemFor, type Scheme } from './problem.ts';
import type { RequestLog } from './request-log.ts';
import { baseHeaders, type Handler, type Handlers, Route, type RouteOptions } from './route.ts';

export interface Endpoint {
  readonly operation: Operation;
  readonly handler: Handler;
}

export function endpointsOf<Operations extends Record<string, Operation>>(
  operations: Operations,
  handlers: Handlers<Operations>,
): Endpoint[] {
  return Object.entries(operations).map(([name, operation]) => ({
    operation,
    handler: handlers[name as keyof Operations] as Handler,
  }));
}

export interface RouterOptions extends RouteOptions {
  readonly roles: ReadonlySet<Role>;
  readonly log: RequestLog;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** The response to a defect. Its cause is only in the log. */
export const INTERNAL_ERROR = new Problem(500, 'An internal error occurred. Try again.');

export type PathHandler = (request: BunRequest<string>) => Response | Promise<Response>;

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id',
  // Browsers limit this further (Chromium to 2 hours).
  'Access-Control-Max-Age': '86400',
};

/** The routes of all endpoints whose role this process runs, in the format of Bun's router. */
export function createRoutes(
  endpoints: readonly Endpoint[],
  options: RouterOptions,
): Record<string, PathHandler> {
  const enabled = endpoints.filter(
    ({ operation: { role } }) => role === 'always' || options.roles.has(role),
  );
  const byPath = Map.groupBy(enabled, ({ operation }) => operation.path.replace(/\/$/, ''));
  const routes: Record<string, PathHandler> = {};
  for (const [path, group] of byPath) {
    const handler = pathHandler(group, options);
    const pattern = path.replace(/\{(\w+)\}/g, ':$1');
    routes[pattern] = handler;
    routes[`${pattern}/`] = handler;
  }
  return routes;
}

function pathHandler(endpoints: readonly Endpoint[], options: RouterOptions): PathHandler {
  const allow = allowHeader(endpoints.map(({ operation }) => operation));
  const handlers = new Map<string, PathHandler>();
  for (const { operation, handler } of endpoints) {
    const route = new Route(operation, allow, options);
    const guarded = withErrorResponses(route, handler, options.log);
    handlers.set(operation.method, guarded);
    if (operation.method === 'GET') handlers.set('HEAD', guarded);
  }
  const headers = baseHeaders(allow, options.corsOrigin);
  const preflight = { ...headers, ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow };
  return (request) => {
    const handler = handlers.get(request.method);
    if (handler) return handler(request);
    if (request.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: preflight });
    const problem = new Problem(405, `This path supports ${allow}.`);
    return problemResponse(problem, request, headers, options.log.requestId(request));
  };
}

/** The `Allow` header of a path with these operations (G-2). */
export function allowHeader(operations: readonly Operation[]): string {
  const methods = operations.map(({ method }) => method as string);
  if (methods.includes('GET')) methods.push('HEAD');
  methods.push('OPTIONS');
  return methods.join(', ');
}

/** Wraps a handler: checks the URL and unexpected bodies, counts responses, and maps errors. */
function withErrorResponses(route: Route, handler: Handler, log: RequestLog): PathHandler {
  const { operation } = route;
  const { bodyBytes } = operation;
  const takesBody = operation.body !== undefined;
  const counter = log.createCounter(operation);
  const errorResponse = (error: unknown, request: Request, startedMs: number): Response => {
    const { problem, requestId } = problemForError(error, request, operation, log);
    counter.count(problem.status, startedMs);
    return problemResponse(problem, request, route.headers, requestId);
  };
  return (request) => {
    const startedMs = runtime.monotonicMs();
    try {
      checkEncoding(request.url);
      const isAnnounced = checkContentLength(request, bodyBytes);
      const discarded = isAnnounced || takesBody ? null : discardChunkedBody(request, bodyBytes);
      const response = discarded
        ? discarded.then(() => handler(request, route))
        : handler(request, route);
      if (!(response instanceof Promise)) {
        counter.count(response.status, startedMs);
        return response;
      }
      return response.then(
        (settled) => {
          counter.count(settled.status, startedMs);
          return settled;
        },
        (error) => errorResponse(error, request, startedMs),
      );
    } catch (error) {
      return errorResponse(error, request, startedMs);
    }
  };
}

/** Maps an error to its response and logs it. */
export function problemForError(
  error: unknown,
  request: Request,
  operation: Operation,
  log: RequestLog,
): { problem: Problem; requestId: string } {
  const scheme: Scheme = operation.access === 'viewer' ? 'Bearer' : 'Token';
  const requestId = log.requestId(request);
  const problem = problemFor(error, scheme);
  if (problem) log.logRejected(operation, requestId, problem.status, error);
  else log.logDefect(operation, requestId, error);
  return { problem: problem ?? INTERNAL_ERROR, requestId };
}

/** An error response in the media type that the client accepts. */
export function problemResponse(
  problem: Problem,
  request: Request,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Response {
  const acceptsProblemJson = accepts(request.headers.get('accept'), PROBLEM_TYPE);
  return new Response(JSON.stringify(problem.body()), {
    status: problem.status,
    headers: {
      ...problemHeaders(problem, acceptsProblemJson, headers, requestId),
      // The rest of a chunked body is not read, and it may never end.
      ...(request.headers.has('transfer-encoding') && { Connection: 'close' }),
    },
  });
}

/** Headers of an error response. @param headers the common headers of the path */
export function problemHeaders(
  problem: Problem,
  acceptsProblemJson: boolean,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Record<string, string> {
  return {
    ...headers,
    ...problem.headers,
    'X-Request-Id': requestId,
    'Content-Type': acceptsProblemJson ? PROBLEM_TYPE : 'application/json',
  };
}

/** Handles requests that match no route: 404, or 204 for OPTIONS. */
export function notFoundHandler(
  corsOrigin: string,
  requests: Pick<RequestLog, 'requestId'>,
): (request: Request) => Response {
  const headers = baseHeaders('OPTIONS', corsOrigin);
  return (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers });
    const problem = new Problem(404, 'There is nothing at this path. See /docs for the API.');
    return problemResponse(problem, request, headers, requests.requestId(request));
  };
}
