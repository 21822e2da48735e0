import { describe, expect, test } from 'bun:test';
import { Calls } from './calls.ts';
import { Trouble } from './errors.ts';
import { FakeMachine } from './fake-machine.ts';
import type { Quiz } from './types.ts';

const URLS = {
  base: 'https://base',
  auth: 'https://auth',
  viewCounts: 'https://counts',
  polls: 'https://polls',
  events: 'https://events',
};
const QUIZ: Quiz = {
  id: 'quiz/1',
  streamId: 'stream 1',
  created: 0,
  duration: 10_000,
  closeInterval: 77,
  question: '?',
  choices: {},
  order: ['Mars', 'Venus'],
};

type Answer = (request: Request) => Response | Promise<Response>;

/** Calls of a viewer whose tokens are `token 1`, `token 2`, …: a new one when one is refused. */
function begin(answer: Answer) {
  const requests: Request[] = [];
  const refused: string[] = [];
  const machine = new FakeMachine({
    fetch: async (url, init) => {
      const request = new Request(url, init);
      requests.push(request);
      const ended = new Promise<never>((_, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        if (request.signal.aborted) reject(request.signal.reason);
      });
      return Promise.race([ended, answer(request)]);
    },
  });
  let given = 0;
  const token = {
    get: async () => {
      given = refused.length + 1;
      return `token ${given}`;
    },
    refuse: (token: string) => {
      refused.push(token);
    },
  };
  const calls = new Calls(machine.environment, URLS, 'stream 1', token);
  return { machine, calls, requests, refused, given: () => given };
}

const done: Answer = () => new Response(null, { status: 204 });
const never: Answer = () => new Promise(() => {});
const says =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Answer =>
  () =>
    Response.json(body, { status, headers });

function troubleOf(promise: Promise<unknown>): Promise<Trouble> {
  return promise.then(
    () => expect.unreachable('it should have failed'),
    (trouble) => trouble,
  );
}

async function sent(request: Request | undefined) {
  if (!request) return null;
  const { method, url, headers } = request;
  const text = await request.text();
  return {
    line: `${method} ${url}`,
    token: headers.get('authorization'),
    body: text === '' ? null : JSON.parse(text),
  };
}

describe('a viewer asks', () => {
  test('[K-2] for the time, without a credential, so that browsers ask nothing before it', async () => {
    const { calls, requests } = begin(says(200, { now: 1_760_000_000_123, interval: 7 }));
    expect(await calls.time()).toBe(1_760_000_000_123);
    expect(await sent(requests[0])).toEqual({
      line: 'GET https://base/api/v1/time',
      token: null,
      body: null,
    });
  });

  test('[S-5] for the stream, without a credential', async () => {
    const { calls, requests } = begin(says(200, { id: 'stream 1', status: 'STREAMING' }));
    expect(await calls.stream()).toMatchObject({ status: 'STREAMING' });
    expect((await sent(requests[0]))?.line).toBe('GET https://base/api/v1/streams/stream%201/');
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });

  test('[T-1] for a token', async () => {
    const { calls, requests } = begin(says(200, { token: 'abc' }));
    expect(await calls.newToken('somebody')).toBe('abc');
    expect(await sent(requests[0])).toEqual({
      line: 'POST https://auth/api/v1/token',
      token: null,
      body: { stream_id: 'stream 1', unique_user_identifier: 'somebody' },
    });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
  });

  test('[V-1] to be counted, [W-6] as a winner too, without a body', async () => {
    const { calls, requests } = begin(done);
    expect(await calls.beat()).toBeUndefined();
    expect(await calls.recordWinner(true)).toBeUndefined();
    expect(await Promise.all(requests.map(sent))).toEqual([
      {
        line: 'POST https://counts/api/v1/view-counts/stream%201',
        token: 'Bearer token 1',
        body: null,
      },
      {
        line: 'POST https://polls/api/v1/quizzes/stream%201/record-winner',
        token: 'Bearer token 1',
        body: null,
      },
    ]);
    expect(requests.some(({ headers }) => headers.has('content-type'))).toBe(false);
  });

  test('[Q-7] for an answer to be taken', async () => {
    const { calls, requests } = begin(done);
    expect(await calls.answer(QUIZ, 'Venus')).toBeUndefined();
    expect(await sent(requests[0])).toEqual({
      line: 'POST https://polls/api/v1/quizzes/quiz%2F1/answer',
      token: 'Bearer token 1',
      body: { streamId: 'stream 1', choice: 'Venus', closeInterval: 77 },
    });
  });

  test('[C-1] for a line or hearts to be told', async () => {
    const { calls, requests } = begin(done);
    await calls.chat({ kind: 'message', text: 'Hello', name: undefined });
    await calls.chat({ kind: 'heart', count: 3 });
    expect(await Promise.all(requests.map(sent))).toMatchObject([
      {
        line: 'POST https://events/api/v1/events-streams/stream%201/chats',
        body: { kind: 'message', text: 'Hello' },
      },
      { body: { kind: 'heart', count: 3 } },
    ]);
  });

  test('[F-1] for an interval, [F-21] and for all from one on', async () => {
    const { calls, requests } = begin(says(200, { interval: 5, events: [] }));
    expect(await calls.interval(5)).toEqual({ interval: 5, events: [] });
    const response = await calls.eventStream(6, new AbortController().signal);
    expect(response.bodyUsed).toBe(false);
    const url = 'https://events/api/v1/events-streams/stream%201?interval=';
    expect(requests.map((request) => request.url)).toEqual([`${url}5`, `${url}6`]);
    expect(requests.map(({ headers }) => headers.get('accept'))).toEqual([
      null,
      'text/event-stream',
    ]);
    expect(requests[1]?.headers.get('authorization')).toBe('Bearer token 1');
  });
});

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
    expect(trouble).toBeInstanceOf(Trouble);
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
    const why = new Trouble('busy', 'too many', 429, 1_000);
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

describe('[F-21] an event stream', () => {
  /** One that begins at once, and how it ended. */
  function endless() {
    const ends: string[] = [];
    const begun = begin(({ signal }) => {
      const body = new ReadableStream({
        start: (controller) => {
          signal.addEventListener('abort', () => {
            ends.push('aborted');
            controller.error(signal.reason);
          });
        },
      });
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
    });
    return { ...begun, ends };
  }

  test('has a time limit until its headers, and none after', async () => {
    const { machine, calls, ends } = endless();
    await calls.eventStream(5, new AbortController().signal);
    await machine.advance(600_000);
    expect(ends).toEqual([]);

    const other = begin(never);
    const failing = troubleOf(other.calls.eventStream(5, new AbortController().signal));
    await other.machine.advance(5_000);
    expect((await failing).kind).toBe('away');
  });

  test('ends when its reader says so', async () => {
    const { calls, ends } = endless();
    const ending = new AbortController();
    const response = await calls.eventStream(5, ending.signal);
    const reading = troubleOf(response.text());
    ending.abort();
    await reading;
    expect(ends).toEqual(['aborted']);
  });

  test('does not begin for a reader that has gone', async () => {
    const { calls } = begin(never);
    expect((await troubleOf(calls.eventStream(5, AbortSignal.abort()))).kind).toBe('away');
  });
});

test('an answer counts when the service says 204: the page of a portal on the way is `away`', async () => {
  const { calls } = begin(() => new Response('<html>Log in to our Wi-Fi</html>'));
  const trouble = await troubleOf(calls.answer({ id: 'quiz', closeInterval: 9 } as Quiz, 'Mars'));
  expect(trouble.kind).toBe('away');
});

test('a body that nobody needs is not left unread, which would keep its connection', async () => {
  let isCancelled = false;
  const { calls } = begin(() => {
    const cancel = () => {
      isCancelled = true;
    };
    return new Response(new ReadableStream({ cancel }), { status: 200 });
  });
  await troubleOf(calls.beat());
  expect(isCancelled).toBe(true);
});
