import { describe, expect, test } from 'bun:test';
import {
  type Answer,
  begin,
  done,
  never,
  QUIZ,
  says,
  sent,
  troubleOf,
  URLS,
} from '../test/support/sdk/calls-fixture.ts';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { Calls } from './calls.ts';
import { FourbeatError } from './errors.ts';
import type { Quiz } from './types.ts';

describe('what does not work is Trouble', () => {
  test.each([
    [400, 'refused'],
    [404, 'unknown'],
    [409, 'refused'],
    [413, 'refused'],
    [429, 'busy'],
    [500, 'away'],
    [502, 'away'],
    [503, 'away'],
  ] as const)('%d is `%s`, with what the service says', async (status, kind) => {
    const { calls } = begin(says(status, { detail: 'Because.' }, { 'Retry-After': '3' }));
    const trouble = await troubleOf(calls.beat());
    expect(trouble).toBeInstanceOf(FourbeatError);
    expect(trouble).toMatchObject({ kind, status, message: 'Because.', retryAfterMs: 3_000 });
  });

  test('a network that fails is `away`', async () => {
    const { calls } = begin(() => Promise.reject(new TypeError('no route')));
    expect(await troubleOf(calls.time())).toMatchObject({
      kind: 'away',
      status: null,
      retryAfterMs: null,
    });
  });

  test('a page that a gateway puts in place of the service is `away`', async () => {
    const { calls } = begin(() => new Response('<html>Log in to our Wi-Fi</html>'));
    expect((await troubleOf(calls.interval(5))).kind).toBe('away');
    const other = begin(says(200, { hello: 'there' }));
    expect((await troubleOf(other.calls.time())).kind).toBe('away');
  });

  test('no answer in 5 s is `away`, and the request is ended', async () => {
    const { machine, calls, requests } = begin(never);
    const failing = troubleOf(calls.beat());
    await machine.advance(4_999);
    expect(requests[0]?.signal.aborted).toBe(false);
    await machine.advance(1);
    expect(await failing).toMatchObject({ kind: 'away', status: null });
    expect(requests[0]?.signal.aborted).toBe(true);
  });

  test('a body that stops half way is `away` after 5 s as well', async () => {
    const { machine, calls } = begin(({ signal }) => {
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"interval":'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
      return new Response(body);
    });
    const failing = troubleOf(calls.interval(5));
    await machine.advance(5_000);
    expect((await failing).kind).toBe('away');
  });

  test('and leaves no timer behind, nor does success', async () => {
    const { machine, calls } = begin(says(503));
    await troubleOf(calls.beat());
    expect(machine.waiting).toBe(0);
    const other = begin(done);
    await other.calls.beat();
    expect(other.machine.waiting).toBe(0);
  });
});

describe('[T-12] a token that is refused', () => {
  const refuses =
    (tokens: number): Answer =>
    (request) => {
      const number = Number(request.headers.get('authorization')?.split(' ')[2]);
      return number > tokens
        ? new Response(null, { status: 204 })
        : Response.json({}, { status: 401 });
    };

  test('is given back, and the same is asked once more with a new one', async () => {
    const { calls, requests, refused } = begin(refuses(1));
    await calls.answer(QUIZ, 'Venus');
    expect(refused).toEqual(['token 1']);
    const [first, second] = await Promise.all(requests.map(sent));
    expect(second).toEqual({ ...first, token: 'Bearer token 2' } as typeof second);
  });

  test('twice is `denied`, and nothing is asked a third time', async () => {
    const { calls, requests, refused } = begin(refuses(2));
    expect(await troubleOf(calls.recordWinner(true))).toMatchObject({
      kind: 'denied',
      status: 401,
    });
    expect(requests).toHaveLength(2);
    expect(refused).toEqual(['token 1']);
  });

  test('[V-4] means no second heartbeat: the next one has a new token', async () => {
    const { calls, requests, refused, given } = begin(refuses(1));
    let sent = 0;
    const beat = () => calls.beat(() => sent++);
    expect((await troubleOf(beat())).kind).toBe('denied');
    expect([refused, requests.length, sent]).toEqual([['token 1'], 1, 1]);
    // It is asked for now, so that the next one need not wait.
    expect(given()).toBe(2);
    await beat();
    expect([requests.length, sent]).toEqual([2, 2]);
  });

  test('[W-8] is not, when the viewer may just not have won', async () => {
    const { calls, requests, refused } = begin(says(401));
    expect((await troubleOf(calls.recordWinner(false))).kind).toBe('denied');
    expect([requests.length, refused]).toEqual([1, []]);
  });

  test('means nothing to what needs no token', async () => {
    const { calls, requests, refused } = begin(says(401));
    expect((await troubleOf(calls.newToken('somebody'))).kind).toBe('denied');
    expect(requests).toHaveLength(1);
    expect(refused).toEqual([]);
  });

  test('when no new one can be had: that is the trouble', async () => {
    const machine = new FakeMachine({ fetch: async () => Response.json({}, { status: 401 }) });
    const why = new FourbeatError('busy', 'too many', 429, 1_000);
    let has = true;
    const token = {
      get: () => (has ? Promise.resolve('token') : Promise.reject(why)),
      refuse: () => {
        has = false;
      },
    };
    const calls = new Calls(machine.environment, URLS, 'stream', token);
    expect(await troubleOf(calls.recordWinner(true))).toBe(why);
  });
});

test('an answer counts when the service says 204: the page of a portal on the way is `away`', async () => {
  const { calls } = begin(() => new Response('<html>Log in to our Wi-Fi</html>'));
  const trouble = await troubleOf(calls.answer({ id: 'quiz', closeInterval: 9 } as Quiz, 'Mars'));
  expect(trouble.kind).toBe('away');
});
