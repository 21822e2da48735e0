import type { Operation } from '../../protocol/operation.ts';
import { Problem } from './problem.ts';
import { baseHeaders } from './route.ts';
import { INTERNAL_ERROR, problemResponse } from './router.ts';

/** Options of all routes outside the API. */
export interface ReadOnlyOptions {
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  /** Creates request ids and logs defects. */
  readonly log: {
    requestId(request: Request): string;
    logDefect(of: Pick<Operation, 'method' | 'path'>, requestId: string, error: unknown): void;
  };
}

/** Handles a GET request. May throw `Problem`. */
export type ReadHandler = (
  request: Request,
  headers: Readonly<Record<string, string>>,
  requestId: string,
) => Response | Promise<Response>;

export type ReadOnlyRoute = (request: Request) => Response | Promise<Response>;

const ALLOW = 'GET, HEAD, OPTIONS';

/** A route that takes GET, HEAD and OPTIONS. Errors other than `Problem` are logged and return 500. */
export function readOnlyRoute(
  path: string,
  read: ReadHandler,
  { corsOrigin, log }: ReadOnlyOptions,
): ReadOnlyRoute {
  const headers = baseHeaders(ALLOW, corsOrigin);
  return (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers });
    const requestId = log.requestId(request);
    const errorResponse = (error: unknown) => {
      if (error instanceof Problem) return problemResponse(error, request, headers, requestId);
      log.logDefect({ method: 'GET', path }, requestId, error);
      return problemResponse(INTERNAL_ERROR, request, headers, requestId);
    };
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem(405, `This path supports ${ALLOW}.`);
      }
      const response = read(request, headers, requestId);
      return response instanceof Promise ? response.catch(errorResponse) : response;
    } catch (error) {
      return errorResponse(error);
    }
  };
}
