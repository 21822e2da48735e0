import { describe, expect, test } from 'bun:test';
import { StudioApiError } from './studio-api-error.ts';
import { type OperationName, StudioClient } from './studio-client.ts';

interface SentRequest {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client with scripted responses and a clock that only its waits advance. */
function fixture(...responses: (() => Response)[]) {
  const sent: SentRequest[] = [];
  let nowMs = 0;
  let keys = 0;
  let limit: (() => void) | null = null;
  const limitsMs: number[] = [];
  const client = new StudioClient({
    fetch: async (url, init) => {
      sent.push({ url, init });
      const response = responses.length > 1 ? responses.shift() : responses[0];
      if (!response) throw new TypeError('network error');
      return response();
    },
    createIdempotencyKey: () => `key ${keys++}`,
    after: (ms, callback) => {
      limitsMs.push(ms);
      limit = callback;
      return () => {
        limit = null;
      };
    },
    wait: async (ms) => {
      nowMs += ms;
    },
    monotonicMs: () => nowMs,
    random: () => 0.5,
  });
  const header = (name: string) => sent.map(({ init }) => new Headers(init.headers).get(name));
  return {
    ...{ client, sent, header, nowMs: () => nowMs },
    pass: (ms: number) => {
      nowMs += ms;
    },
    limitsMs,
    isLimited: () => limit !== null,
    expire: () => limit?.(),
  };
}

const json = (status: number, body: unknown) => () => Response.json(body, { status });
/** A response of another program. */
const pageOf = (status: number) =>
  new Response('<!doctype html>', { status, headers: { 'Content-Type': 'text/html' } });
const networkError = () => {
  throw new TypeError('network error');
};
const rejectionOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error as StudioApiError,
  );

describe('StudioClient.call', () => {
  test('fills path parameters and uses the method of the operation', async () => {
    const { client, sent } = fixture(json(200, { results: [] }));
    await client.call('listQuizzes', { params: { stream_id: 'a/b' } });
    expect(sent[0]?.url).toBe('/studio/v1/streams/a%2Fb/quizzes');
    expect(sent[0]?.init.method).toBe('GET');
  });

  test('rejects with the message of the service', async () => {
    const { client } = fixture(json(409, { detail: 'The stream has ended.' }));
    const error = await rejectionOf(client.call('startStream', { params: { stream_id: 'a' } }));
    expect(error).toBeInstanceOf(StudioApiError);
    expect(error?.status).toBe(409);
    expect(error?.message).toBe('The stream has ended.');
  });

  test('[B-7] rejects the page of a network, and a response that breaks off, with what to do', async () => {
    const page = () => pageOf(200);
    const rejection = () => pageOf(401);
    const broken = () =>
      new Response('{"results": [', { headers: { 'Content-Type': 'application/json' } });
    for (const response of [page, rejection, broken]) {
      const error = await rejectionOf(fixture(response).client.call('listOwnStreams'));
      expect(error).toBeInstanceOf(StudioApiError);
      expect(error?.isTransient).toBe(true);
      expect(error?.message).toContain('Check your connection and try again.');
    }
    const { client, header } = fixture(page, json(201, { id: 'new' }));
    const stream = await client.call('createStream', { body: { title: 'Quiz night' } });
    expect([stream.id, ...header('idempotency-key')]).toEqual(['new', 'key 0', 'key 0']);
  });

  test('rejects the page of a proxy without a service with its status', async () => {
    const error = await rejectionOf(fixture(() => pageOf(502)).client.call('listOwnStreams'));
    expect(error?.message).toBe('The service could not do this (status 502). Try again.');
  });

  test('does not retry reads', async () => {
    const { client, sent } = fixture(networkError);
    expect((await rejectionOf(client.call('listOwnStreams')))?.status).toBeNull();
    expect(sent).toHaveLength(1);
  });
});

describe('StudioClient writes', () => {
  test('are retried with the same key until a final response', async () => {
    const { client, header } = fixture(networkError, json(503, {}), json(201, { id: 'new' }));
    const stream = await client.call('createStream', { body: { title: 'Quiz night' } });
    expect(stream.id).toBe('new');
    expect(header('Idempotency-Key')).toEqual(['key 0', 'key 0', 'key 0']);
  });

  test('fail with a transient error after 15 s', async () => {
    const { client, nowMs } = fixture(networkError);
    const error = await rejectionOf(client.call('createStream', { body: { title: 'Quiz night' } }));
    expect(error?.isTransient).toBe(true);
    expect(nowMs()).toBe(15_000);
  });

  test('[B-7] keep their key when they are sent again by hand, until their outcome is known', async () => {
    let isDown = true;
    const { client, header, pass } = fixture(() =>
      isDown ? networkError() : json(201, { id: 'new' })(),
    );
    const create = (title: string) => client.call('createStream', { body: { title } });
    const keyOf = async (call: Promise<unknown>) => {
      await rejectionOf(call);
      return header('Idempotency-Key').at(-1);
    };
    const key = await keyOf(create('Quiz night'));
    expect(await keyOf(create('Quiz night'))).toBe(key);
    expect(await keyOf(create('Other'))).not.toBe(key);
    isDown = false;
    expect(await keyOf(create('Quiz night'))).toBe(key);
    expect(await keyOf(create('Quiz night'))).not.toBe(key);
    isDown = true;
    const lost = await keyOf(create('Quiz night'));
    pass(60_000);
    expect(await keyOf(create('Quiz night'))).not.toBe(lost);
  });

  test('[B-7] have another key when they are meant as another action', async () => {
    const statuses = [0, 204, 204];
    const { client, header } = fixture(() => {
      const status = statuses[0] === 0 ? 0 : statuses.shift();
      return status ? new Response(null, { status }) : networkError();
    });
    const pause = (paused: boolean) =>
      rejectionOf(client.call('patchChatMode', { params: { stream_id: 'a' }, body: { paused } }));
    await pause(true);
    statuses.shift();
    await pause(false);
    await pause(true);
    const keys = header('Idempotency-Key');
    expect(keys.at(-1)).not.toBe(keys[0]);
    expect(new Set(keys).size).toBe(3);
  });

  const IDS = { stream_id: 'a', quiz_id: 'a', product_id: 'a', webhook_id: 'a', token_id: 'a' };

  /** Sends a creation whose response is lost, another write, and the creation again. @returns whether with its key */
  async function keepsKey(
    creation: OperationName,
    other: OperationName,
    response: () => Response,
  ): Promise<boolean> {
    const responses = [networkError, response, networkError];
    const { client, header } = fixture(() => (responses[0] ?? networkError)());
    for (const name of [creation, other, creation]) {
      await rejectionOf(client.call(name, { params: IDS }));
      responses.shift();
    }
    const sent = header('Idempotency-Key');
    return sent.at(-1) === sent[0];
  }

  const done = () => new Response(null, { status: 204 });

  test('[B-7] keep their key during other writes, until one changes or removes a thing of that kind', async () => {
    const kinds: readonly { creations: OperationName[]; changes: OperationName[] }[] = [
      { creations: ['createStream'], changes: ['patchStream'] },
      {
        creations: ['createQuiz', 'duplicateQuiz', 'importQuizzes'],
        changes: ['patchQuiz', 'deleteQuiz'],
      },
      { creations: ['createProduct'], changes: ['patchProduct', 'deleteProduct'] },
      { creations: ['createWebhook'], changes: ['patchWebhook', 'deleteWebhook'] },
      { creations: ['createApiToken'], changes: ['revokeApiToken'] },
      { creations: ['sendEvent'], changes: [] },
    ];
    const others = ['previewImport' as const, ...kinds.flatMap(({ changes }) => changes)];
    for (const { creations, changes } of kinds) {
      for (const creation of creations) {
        for (const other of others) {
          const pair = `${creation}, ${other}`;
          const isKept = await keepsKey(creation, other, done);
          expect({ pair, isKept }).toEqual({ pair, isKept: !changes.includes(other) });
        }
      }
    }
  });

  test('[B-7] keep their key when such a write is rejected, but not when the thing is gone', async () => {
    for (const status of [400, 409]) {
      expect(await keepsKey('createQuiz', 'deleteQuiz', json(status, {}))).toBe(true);
    }
    expect(await keepsKey('createQuiz', 'deleteQuiz', json(404, {}))).toBe(false);
  });

  test('[B-7] keep their key when another program rejects a later attempt', async () => {
    let response: () => Response = networkError;
    const { client, header } = fixture(() => response());
    const create = () => client.call('createStream', { body: { title: 'Quiz night' } });
    await rejectionOf(create());
    response = () => pageOf(403);
    const error = await rejectionOf(create());
    expect([error?.status, error?.isTransient]).toEqual([null, true]);
    response = json(201, { id: 'new' });
    expect((await create()).id).toBe('new');
    expect(new Set(header('Idempotency-Key')).size).toBe(1);
  });

  test('[B-7] keep their key when a later attempt was only refused for now', async () => {
    const { client, header } = fixture(networkError, json(429, {}), json(201, { id: 'new' }));
    const create = () => client.call('createStream', { body: { title: 'Quiz night' } });
    expect((await rejectionOf(create()))?.status).toBe(429);
    expect((await create()).id).toBe('new');
    expect(new Set(header('Idempotency-Key')).size).toBe(1);
  });

  test('[B-7] are sent again with their key when the response breaks off', async () => {
    const broken = () => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('{"id":')),
        pull: (controller) => controller.error(new TypeError('network error')),
      });
      return new Response(body, { status: 201, headers: { 'Content-Type': 'application/json' } });
    };
    const { client, header } = fixture(broken, json(201, { id: 'new' }));
    expect((await client.call('createStream', { body: { title: 'Quiz night' } })).id).toBe('new');
    expect(header('Idempotency-Key')).toEqual(['key 0', 'key 0']);
  });

  test('are not retried after a 400', async () => {
    const { client, sent } = fixture(json(400, { detail: 'title: must not be empty' }));
    await rejectionOf(client.call('createStream', { body: { title: '' } }));
    expect(sent).toHaveLength(1);
  });

  test('carry the CSRF token (SPEC U)', async () => {
    const { client, header } = fixture(() => new Response(null, { status: 204 }));
    client.csrf = 'token';
    await client.call('signOut');
    expect(header('X-CSRF-Token')).toEqual(['token']);
  });
});

describe('[P-10] StudioClient reads', () => {
  const type = { 'Content-Type': 'application/json' };

  test('have more time for a long body', async () => {
    const { client, limitsMs, isLimited } = fixture(
      () => new Response('{"results": []}', { headers: { ...type, 'Content-Length': '9000000' } }),
    );
    await client.call('listOwnStreams');
    expect(limitsMs).toEqual([5_000, 365_000]);
    expect(isLimited()).toBe(false);
  });

  test('fail when their body does not arrive in time', async () => {
    const { client, sent, expire } = fixture(() => {
      const body = new ReadableStream({
        pull: (controller) => {
          expire();
          controller.error(sent[0]?.init.signal?.reason);
        },
      });
      return new Response(body, { headers: type });
    });
    const error = await rejectionOf(client.call('listOwnStreams'));
    expect(sent[0]?.init.signal?.aborted).toBe(true);
    expect(error?.message).toBe('The service did not respond in time. Try again.');
  });
});

describe('StudioClient after a 401', () => {
  /** @returns how often the client reports the end of the session in one call */
  async function reportsOf(csrf: string | null, ...responses: (() => Response)[]) {
    const { client } = fixture(...responses);
    client.csrf = csrf;
    let reports = 0;
    client.onSignedOut = () => reports++;
    await rejectionOf(client.call('listOwnStreams'));
    return reports;
  }
  const unauthorized = json(401, { detail: 'Nobody is signed in.' });

  test('reports that the session has ended', async () => {
    expect(await reportsOf('token', unauthorized)).toBe(1);
  });

  test('reports nothing when nobody was signed in', async () => {
    expect(await reportsOf(null, unauthorized)).toBe(0);
  });

  test('reports nothing while the session still exists', async () => {
    const forbidden = json(401, { detail: 'Your role is host.' });
    expect(await reportsOf('token', forbidden, json(200, { csrf: 'token' }))).toBe(0);
    expect(await reportsOf('token', forbidden, json(503, {}))).toBe(0);
  });

  test('[U-3] reports that another tab has replaced the session', async () => {
    const detail = 'Send the "csrf" of GET /studio/v1/session in the header X-CSRF-Token.';
    const { client } = fixture(json(401, { detail }), json(200, { csrf: 'other' }));
    client.csrf = 'token';
    const reports: string[] = [];
    client.onSignedOut = () => reports.push('signed out');
    client.onSessionReplaced = () => reports.push('replaced');
    const error = await rejectionOf(client.call('startStream', { params: { stream_id: 'a' } }));
    expect(reports).toEqual(['replaced']);
    expect(error?.message).toBe('You signed in again in another tab. Try again.');
  });
});
