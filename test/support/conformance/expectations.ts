import { expect } from 'bun:test';
import type { ProblemBody } from '../../../protocol/problem.ts';
import type { Harness } from '../harness/harness.ts';

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** The methods in a header such as `Allow`, in alphabetical order. */
export function methodsIn(header: string | null): string[] {
  return (header ?? '').split(', ').sort();
}

/** Expects the headers that every response carries (G-2, G-3, G-6, G-25, G-30). */
export function expectBaseHeaders(response: Response): void {
  const { headers } = response;
  expect(methodsIn(headers.get('allow'))).toContain('OPTIONS');
  expect(headers.get('vary')).toBe('Accept');
  expect(headers.get('cache-control')).toBeTruthy();
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.has('access-control-allow-credentials')).toBe(false);
  expect(headers.get('access-control-expose-headers')?.split(', ').sort()).toEqual([
    'ETag',
    'Retry-After',
    'WWW-Authenticate',
    'X-Request-Id',
  ]);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

/** Expects an error with this status that follows all G rules for errors. @returns its body */
export async function expectProblem(response: Response, status: number): Promise<ProblemBody> {
  const text = await response.text();
  if (response.status !== status) {
    throw new Error(`expected ${status}, got ${response.status}: ${text}`);
  }
  expectBaseHeaders(response);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  const body: ProblemBody = JSON.parse(text);
  expect(body.type).toBe('about:blank');
  expect(body.title).toBe(TITLES[status] as string);
  expect(body.status).toBe(status);
  // A sentence of at least two words, without a trace of the program.
  expect(body.detail).toMatch(/^\S+ .*[.…]$/s);
  expect(body.detail).not.toMatch(/\.ts\b|node_modules|\bat \w+ \(|\bError:/);
  return body;
}

/** Expects 401 with the scheme of the route (G-16). */
export async function expectUnauthorized(
  response: Response,
  scheme: 'Bearer' | 'Token',
): Promise<ProblemBody> {
  const body = await expectProblem(response, 401);
  expect(response.headers.get('www-authenticate')).toBe(scheme);
  return body;
}

/** Expects 204 without a body and without a content type (G-4, G-5). */
export async function expectNoContent(response: Response): Promise<void> {
  if (response.status !== 204) {
    throw new Error(`expected 204, got ${response.status}: ${await response.text()}`);
  }
  expectBaseHeaders(response);
  expect(response.headers.has('content-type')).toBe(false);
  expect((await response.bytes()).length).toBe(0);
}

/** Expects exactly these members, in any order. */
export function expectMembers(value: object, members: readonly string[]): void {
  expect(Object.keys(value).sort()).toEqual([...members].sort());
}

/** Expects that the service counted no 5xx response, including those that no client received. */
export function expectNoDefects({ service }: Harness): void {
  for (const { operation, counts } of service.stats.requests.counters) {
    const defects = counts.slice(500).reduce((sum, count) => sum + count, 0);
    expect([operation.method, operation.path, defects]).toEqual([
      operation.method,
      operation.path,
      0,
    ]);
  }
}
