import { describe, expect, test } from 'bun:test';
import {
  begin,
  done,
  never,
  QUIZ,
  says,
  sent,
  troubleOf,
} from '../test/support/sdk/calls-fixture.ts';

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
    await calls.sendChat({ kind: 'message', text: 'Hello', name: undefined });
    await calls.sendChat({ kind: 'heart', count: 3 });
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
