import type { Operation } from '../../protocol/operation.ts';
import { Problem } from './problem.ts';
import type { RequestLog } from './request-log.ts';
import { baseHeaders, type Handler, type Handlers } from './route.ts';
import { type Endpoint, problemResponse } from './router.ts';

/** Operations with what answers them. */
export function endpointsOf<Operations extends Record<string, Operation>>(
  operations: Operations,
  handlers: Handlers<Operations>,
): Endpoint[] {
  return Object.entries(operations).map(([name, operation]) => ({
    operation,
    handler: handlers[name as keyof Operations] as Handler,
  }));
}

/** Answers what no route does: 404. */
export function unknownPath(
  corsOrigin: string,
  requests: RequestLog,
): (request: Request) => Response {
  const headers = baseHeaders('OPTIONS', corsOrigin);
  return (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers });
    const problem = new Problem(404, 'There is nothing at this path; see /docs.');
    return problemResponse(problem, request, headers, requests.requestId(request));
  };
}
