import type { BunRequest } from 'bun';
import type { Operation, Role } from '../../protocol/operation.ts';
import { accepts } from './accept.ts';
import type { Listener } from './address.ts';
import { checkLength, ignoreChunks } from './body.ts';
import { Problem, problemOf, type Scheme } from './problem.ts';
import { checkEncoding } from './query.ts';
import type { RequestLog } from './request-log.ts';
import { baseHeaders, type Handler, Route } from './route.ts';

/** An operation and what answers it. */
export interface Endpoint {
  readonly operation: Operation;
  readonly handler: Handler;
}

export interface RouterOptions {
  readonly roles: ReadonlySet<Role>;
  readonly corsOrigin: string;
  readonly trustProxy: boolean;
  readonly listener: Listener;
  readonly log: RequestLog;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** What a client is told of a defect of ours: nothing of its cause, which is in the log. */
export const BROKEN = new Problem(500, 'Something went wrong on our side; try again.');

/** Answers a request on one path, whatever its method. */
export type PathHandler = (request: BunRequest<string>) => Response | Promise<Response>;

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, X-Request-Id',
  // Browsers cap it (Chromium at 2 hours), but a day says what we mean.
  'Access-Control-Max-Age': '86400',
};

/** The paths of all endpoints whose role runs here, as Bun's router takes them. */
export function routesOf(
  endpoints: readonly Endpoint[],
  options: RouterOptions,
): Record<string, PathHandler> {
  const running = endpoints.filter(
    ({ operation: { role } }) => role === 'always' || options.roles.has(role),
  );
  const byPath = Map.groupBy(running, ({ operation }) => operation.path.replace(/\/$/, ''));
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
  const allow = allowOf(endpoints.map(({ operation }) => operation));
  const answers = new Map<string, PathHandler>();
  for (const { operation, handler } of endpoints) {
    const route = new Route(
      operation,
      allow,
      options.corsOrigin,
      options.listener,
      options.trustProxy,
    );
    const guarded = guard(route, handler, options.log);
    answers.set(operation.method, guarded);
    if (operation.method === 'GET') answers.set('HEAD', guarded);
  }
  const headers = baseHeaders(allow, options.corsOrigin);
  const preflight = { ...headers, ...PREFLIGHT_HEADERS, 'Access-Control-Allow-Methods': allow };
  return (request) => {
    const answer = answers.get(request.method);
    if (answer) return answer(request);
    if (request.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: preflight });
    const problem = new Problem(405, `This path takes ${allow}.`);
    return problemResponse(problem, request, headers, options.log.requestId(request));
  };
}

/** What a path with these operations takes: its `Allow` (G-2). */
export function allowOf(operations: readonly Operation[]): string {
  const methods = operations.map(({ method }) => method as string);
  if (methods.includes('GET')) methods.push('HEAD');
  methods.push('OPTIONS');
  return methods.join(', ');
}

/** Turns what a handler throws into the error a client is told. */
function guard(route: Route, handler: Handler, log: RequestLog): PathHandler {
  const { operation } = route;
  const takesBody = operation.body !== undefined;
  const counter = log.counterFor(operation);
  const failed = (error: unknown, request: Request, startedMs: number): Response => {
    const { problem, requestId } = refusalOf(error, request, operation, log);
    counter.count(problem.status, startedMs);
    return problemResponse(problem, request, route.bare, requestId);
  };
  return (request) => {
    const startedMs = performance.now();
    try {
      checkEncoding(request.url);
      const isAnnounced = checkLength(request, operation.bodyBytes);
      const ignored = isAnnounced || takesBody ? null : ignoreChunks(request, operation.bodyBytes);
      const response = ignored
        ? ignored.then(() => handler(request, route))
        : handler(request, route);
      if (!(response instanceof Promise)) {
        counter.count(response.status, startedMs);
        return response;
      }
      return response.then(
        (answered) => {
          counter.count(answered.status, startedMs);
          return answered;
        },
        (error) => failed(error, request, startedMs),
      );
    } catch (error) {
      return failed(error, request, startedMs);
    }
  };
}

/** What a client is told of an error, which is logged. */
export function refusalOf(
  error: unknown,
  request: Request,
  operation: Operation,
  log: RequestLog,
): { problem: Problem; requestId: string } {
  const scheme: Scheme = operation.access === 'viewer' ? 'Bearer' : 'Token';
  const requestId = log.requestId(request);
  const problem = problemOf(error, scheme);
  if (problem) log.refused(operation, requestId, problem.status, error);
  else log.broken(operation, requestId, error);
  return { problem: problem ?? BROKEN, requestId };
}

/** An error response in the media type that was asked for. */
export function problemResponse(
  problem: Problem,
  request: Request,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Response {
  const asked = accepts(request, PROBLEM_TYPE);
  return new Response(JSON.stringify(problem.body()), {
    status: problem.status,
    headers: {
      ...problemHeaders(problem, asked, headers, requestId),
      // Nobody reads the rest of a body in chunks, and it may have no end.
      ...(request.headers.has('transfer-encoding') && { Connection: 'close' }),
    },
  });
}

/** @param isAsked whether the client asked for the media type of problems @param headers of every answer */
export function problemHeaders(
  problem: Problem,
  isAsked: boolean,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Record<string, string> {
  return {
    ...headers,
    ...problem.headers,
    'X-Request-Id': requestId,
    'Content-Type': isAsked ? PROBLEM_TYPE : 'application/json',
  };
}
