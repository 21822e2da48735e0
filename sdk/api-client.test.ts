import { describe, expect, test } from 'bun:test';
import {
  createApiClientFixture,
  describeRequest,
  QUIZ,
  rejectionOf,
  respondNever,
  respondNoContent,
  respondWith,
} from '../test/support/sdk/api-client-fixture.ts';

describe('the API client requests', () => {
  test('[K-2] the time without a token, so that browsers send no preflight', async () => {
    const { api, requests } = createApiClientFixture(
      respondWith(200, { now: 1_760_000_000_123, interval: 7 }),
    );
    expect(await api.time()).toBe(1_760_000_000_123);
    expect(await describeRequest(requests[0])).toEqual({
      line: 'GET https://base/api/v1/time',
      token: null,
      body: null,
    });
  });

  test('[S-5] the stream without a token', async () => {
    const { api, requests } = createApiClientFixture(
      respondWith(200, { id: 'stream 1', status: 'STREAMING' }),
    );
    expect(await api.stream()).toMatchObject({ status: 'STREAMING' });
    expect((await describeRequest(requests[0]))?.line).toBe(
      'GET https://base/api/v1/streams/stream%201/',
    );
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });

  test('[T-1] a token', async () => {
    const { api, requests } = createApiClientFixture(respondWith(200, { token: 'abc' }));
    expect(await api.newToken('somebody')).toBe('abc');
    expect(await describeRequest(requests[0])).toEqual({
      line: 'POST https://auth/api/v1/token',
      token: null,
      body: { stream_id: 'stream 1', unique_user_identifier: 'somebody' },
    });
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
  });

  test('[V-1] a heartbeat and [W-6] a winner report without a body', async () => {
    const { api, requests } = createApiClientFixture(respondNoContent);
    expect(await api.sendHeartbeat()).toBeUndefined();
    expect(await api.recordWinner(true)).toBeUndefined();
    expect(await Promise.all(requests.map(describeRequest))).toEqual([
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

  test('[Q-7] an answer with its choice and close interval', async () => {
    const { api, requests } = createApiClientFixture(respondNoContent);
    expect(await api.answer(QUIZ, 'Venus')).toBeUndefined();
    expect(await describeRequest(requests[0])).toEqual({
      line: 'POST https://polls/api/v1/quizzes/quiz%2F1/answer',
      token: 'Bearer token 1',
      body: { streamId: 'stream 1', choice: 'Venus', closeInterval: 77 },
    });
  });

  test('[C-1] a chat message, and hearts', async () => {
    const { api, requests } = createApiClientFixture(respondNoContent);
    await api.sendChat({ kind: 'message', text: 'Hello', name: undefined });
    await api.sendChat({ kind: 'heart', count: 3 });
    expect(await Promise.all(requests.map(describeRequest))).toMatchObject([
      {
        line: 'POST https://events/api/v1/events-streams/stream%201/chats',
        body: { kind: 'message', text: 'Hello' },
      },
      { body: { kind: 'heart', count: 3 } },
    ]);
  });

  test('[F-1] an interval, and [F-21] an event stream from an interval on', async () => {
    const { api, requests } = createApiClientFixture(respondWith(200, { interval: 5, events: [] }));
    expect(await api.interval(5)).toEqual({ interval: 5, events: [] });
    const response = await api.eventStream(6, new AbortController().signal);
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
  /** The client of an event stream that ends only when it is aborted; `ends` records that. */
  function createEndlessStream() {
    const ends: string[] = [];
    const fixture = createApiClientFixture(({ signal }) => {
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
    return { ...fixture, ends };
  }

  test('has a timeout for its headers only', async () => {
    const { machine, api, ends } = createEndlessStream();
    await api.eventStream(5, new AbortController().signal);
    await machine.advance(600_000);
    expect(ends).toEqual([]);

    const other = createApiClientFixture(respondNever);
    const failing = rejectionOf(other.api.eventStream(5, new AbortController().signal));
    await other.machine.advance(5_000);
    expect((await failing).kind).toBe('unavailable');
  });

  test('ends when its signal is aborted', async () => {
    const { api, ends } = createEndlessStream();
    const controller = new AbortController();
    const response = await api.eventStream(5, controller.signal);
    const reading = rejectionOf(response.text());
    controller.abort();
    await reading;
    expect(ends).toEqual(['aborted']);
  });

  test('does not start when its signal is already aborted', async () => {
    const { api } = createApiClientFixture(respondNever);
    expect((await rejectionOf(api.eventStream(5, AbortSignal.abort()))).kind).toBe('unavailable');
  });
});

test('a response body that is not needed is canceled, to free its connection', async () => {
  let isCanceled = false;
  const { api } = createApiClientFixture(() => {
    const cancel = () => {
      isCanceled = true;
    };
    return new Response(new ReadableStream({ cancel }), { status: 200 });
  });
  await rejectionOf(api.sendHeartbeat());
  expect(isCanceled).toBe(true);
});
