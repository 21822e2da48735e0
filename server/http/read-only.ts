import type { Operation } from '../../protocol/operation.ts';
import { Problem } from './problem.ts';
import { baseHeaders } from './route.ts';
import { BROKEN, problemResponse } from './router.ts';

/** What paths outside the API share. */
export interface ReadOnlyOptions {
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  /** Names requests, and notes defects. */
  readonly log: {
    requestId(request: Request): string;
    broken(of: Pick<Operation, 'method' | 'path'>, requestId: string, error: unknown): void;
  };
}

/** Answers a GET; throws `Problem` to say no. */
export type Reader = (
  request: Request,
  bare: Readonly<Record<string, string>>,
  requestId: string,
) => Response | Promise<Response>;

/** Answers a request on one path, whatever its method. */
export type ReadOnlyPath = (request: Request) => Response | Promise<Response>;

const ALLOW = 'GET, HEAD, OPTIONS';

/** A path that can only be read; what its reader throws is a 500 that tells nothing of us. */
export function readOnlyPath(
  path: string,
  read: Reader,
  { corsOrigin, log }: ReadOnlyOptions,
): ReadOnlyPath {
  const bare = baseHeaders(ALLOW, corsOrigin);
  return (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: bare });
    const requestId = log.requestId(request);
    const failed = (error: unknown) => {
      if (error instanceof Problem) return problemResponse(error, request, bare, requestId);
      log.broken({ method: 'GET', path }, requestId, error);
      return problemResponse(BROKEN, request, bare, requestId);
    };
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem(405, `This path takes ${ALLOW}.`);
      }
      const answer = read(request, bare, requestId);
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  };
}
