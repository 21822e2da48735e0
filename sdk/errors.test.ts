import { expect, test } from 'bun:test';
import { errorFromResponse, FourbeatError, toFourbeatError } from './errors.ts';

test.each([
  [400, 'refused', false],
  [401, 'denied', false],
  [404, 'unknown', false],
  [408, 'unavailable', true],
  [409, 'refused', false],
  [413, 'refused', false],
  [429, 'busy', true],
  [500, 'unavailable', true],
  [503, 'unavailable', true],
] as const)('a response of status %d is the error %s', async (status, kind, isRetryable) => {
  const error = await errorFromResponse(new Response(null, { status }));
  expect(error).toMatchObject({ kind, status, isRetryable, retryAfterMs: null });
});

test.each([
  ['7', 7_000],
  // At most 5 minutes.
  ['3600', 300_000],
  ['1e12', 300_000],
  ['Sun, 22 Nov 2026 00:00:00 GMT', null],
  ['-1', null],
  ['', null],
])(
  'an error has the message of the response, and for Retry-After %p the time %p ms',
  async (retryAfter, retryAfterMs) => {
    const headers = { 'Retry-After': retryAfter };
    const problem = Response.json({ detail: 'Too much.' }, { status: 503, headers });
    expect(await errorFromResponse(problem)).toMatchObject({ message: 'Too much.', retryAfterMs });
  },
);

test('any other thrown value becomes an `unavailable` error with it as the cause', () => {
  const error = new FourbeatError('busy', 'too much', 429);
  expect(toFourbeatError(error)).toBe(error);
  for (const thrown of [new TypeError('no network'), undefined, null, 'cut']) {
    const error = toFourbeatError(thrown);
    expect(error).toMatchObject({ kind: 'unavailable', status: null });
    // The platform's own text is in the cause.
    expect(error.message).toBe('Service unavailable.');
    expect(error.cause).toBe(thrown);
  }
});
