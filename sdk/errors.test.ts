import { expect, test } from 'bun:test';
import { asTrouble, FourbeatError, troubleOf } from './errors.ts';

test.each([
  [400, 'refused', false],
  [401, 'denied', false],
  [404, 'unknown', false],
  [408, 'away', true],
  [409, 'refused', false],
  [413, 'refused', false],
  [429, 'busy', true],
  [500, 'away', true],
  [503, 'away', true],
] as const)('%d is %s', async (status, kind, isPassing) => {
  const trouble = await troubleOf(new Response(null, { status }));
  expect(trouble).toMatchObject({ kind, status, isPassing, retryAfterMs: null });
});

test('what the service says and wishes is in it', async () => {
  const problem = Response.json({ detail: 'Too much.' }, { status: 429 });
  problem.headers.set('Retry-After', '7');
  expect(await troubleOf(problem)).toMatchObject({ message: 'Too much.', retryAfterMs: 7_000 });
});

test('a wish for longer than timers can count is one for a day', async () => {
  const headers = { 'Retry-After': '31536000' };
  const trouble = await troubleOf(new Response(null, { status: 503, headers }));
  expect(trouble.retryAfterMs).toBe(86_400_000);
});

test.each(['Sun, 22 Nov 2026 00:00:00 GMT', '-1', ''])('a wish of %p is none', async (wish) => {
  const headers = { 'Retry-After': wish };
  const trouble = await troubleOf(new Response(null, { status: 503, headers }));
  expect(trouble.retryAfterMs).toBeNull();
});

test('whatever else is thrown is that there was no answer', () => {
  const trouble = new FourbeatError('busy', 'too much', 429);
  expect(asTrouble(trouble)).toBe(trouble);
  for (const thrown of [new TypeError('no network'), undefined, null, 'cut']) {
    const trouble = asTrouble(thrown);
    expect(trouble).toMatchObject({ kind: 'away', status: null });
    // What a platform says is not for people, and not lost.
    expect(trouble.message).toBe('the service cannot be reached');
    expect(trouble.cause).toBe(thrown);
  }
});
