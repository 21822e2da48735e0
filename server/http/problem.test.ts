import { expect, test } from 'bun:test';
import { DomainError, RateLimited, Unavailable } from '../platform/errors.ts';
import { problemFor } from './problem.ts';

const problem = (error: unknown) => {
  const { status, message, headers } = problemFor(error, 'Token') ?? {};
  return { status, message, headers };
};

test('[L-9] a reached rate limit becomes a 429 that says when to try again', () => {
  expect(problem(new RateLimited('Too many calls; try again in 8 s.', 8))).toEqual({
    status: 429,
    message: 'Too many calls; try again in 8 s.',
    headers: { 'Retry-After': '8' },
  });
});

test('[R-15] an unavailable backend becomes a 503 without its details', () => {
  const { status, message, headers } = problem(new Unavailable('host 10.0.0.5 is down', 2));
  expect([status, headers]).toEqual([503, { 'Retry-After': '2' }]);
  expect(message).not.toContain('10.0.0.5');
});

test('a domain error becomes the status of its kind', () => {
  const kinds = ['invalid', 'unauthorized', 'not-found', 'conflict'] as const;
  const statuses = kinds.map((kind) => problem(new DomainError(kind, 'no')).status);
  expect(statuses).toEqual([400, 401, 404, 409]);
});
