import type { ProblemBody } from '../../protocol/problem.ts';
import { DomainError, type DomainErrorKind, RateLimited, Unavailable } from '../platform/errors.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** An error response: a status, a detail that says what to change, and headers. */
export class Problem extends Error {
  override readonly name = 'Problem';
  constructor(
    readonly status: number,
    detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly members: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
  }

  /** The error body (RFC 9457). */
  body(): ProblemBody {
    return {
      type: 'about:blank',
      title: TITLES[this.status] ?? 'Error',
      status: this.status,
      detail: this.message,
      ...this.members,
    };
  }
}

/** The kind of credential that an operation needs, as `WWW-Authenticate` names it. */
export type Scheme = 'Bearer' | 'Token';

/** 401: not authenticated or not permitted. The interface has no 403. */
export function unauthorized(
  scheme: Scheme,
  detail: string,
  members: Readonly<Record<string, unknown>> = {},
): Problem {
  return new Problem(401, detail, { 'WWW-Authenticate': scheme }, members);
}

const STATUS_BY_KIND: Readonly<Record<DomainErrorKind, number>> = {
  invalid: 400,
  unauthorized: 401,
  'not-found': 404,
  conflict: 409,
};

/** Maps a thrown error to its error response; null for a defect (500). */
export function problemFor(error: unknown, scheme: Scheme): Problem | null {
  if (error instanceof Problem) return error;
  if (error instanceof DomainError) {
    if (error.kind === 'unauthorized') return unauthorized(scheme, error.message, error.members);
    return new Problem(STATUS_BY_KIND[error.kind], error.message, {}, error.members);
  }
  if (error instanceof RateLimited) {
    return new Problem(429, error.message, { 'Retry-After': String(error.retryAfterS) });
  }
  if (error instanceof Unavailable) {
    return new Problem(503, 'The service is temporarily unavailable. Try again.', {
      'Retry-After': String(error.retryAfterS),
    });
  }
  return null;
}
