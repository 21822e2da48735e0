import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { intervalStartMs } from '../protocol/interval.ts';
import type { Operation } from '../protocol/operation.ts';
import { studioApi } from '../protocol/studio-api.ts';
import { viewerApi } from '../protocol/viewer-api.ts';
import { configOf } from '../server/config.ts';
import { openApiDocument } from '../server/http/openapi.ts';
import type { TheRecord } from '../server/procedures.ts';
import { Unavailable } from '../server/refusal.ts';
import { startServer } from '../server/server.ts';
import { expectJson, type Harness, QUIZ, startService, type TestViewer } from './harness.ts';
import { type Ask, Contract, type DocumentedOperation } from './openapi-contract.ts';

const document = openApiDocument('1.2.3');
const contract = new Contract(document);

const NO_LIMIT = { points: 100_000, durationS: 60 };
const RATES = {
  tokens: NO_LIMIT,
  failedAuth: NO_LIMIT,
  answers: NO_LIMIT,
  chat: NO_LIMIT,
  studio: NO_LIMIT,
};

let service: Harness;
let limited: Harness;
let isAway = false;

beforeAll(async () => {
  service = await startService({ config: { rates: RATES }, record: breakable });
  // One failed authentication for an address; each operation comes from one of its own.
  const failedAuth = { points: 1, durationS: 60 };
  limited = await startService({ config: { rates: { ...RATES, failedAuth }, trustProxy: true } });
});
afterAll(async () => {
  await service.close();
  await limited.close();
});

/** A record that answers nothing while `isAway`. */
function breakable(record: TheRecord): TheRecord {
  return new Proxy(record, {
    get: (calls, name: keyof TheRecord) => (input: never, once?: never) =>
      isAway ? Promise.reject(new Unavailable('The record is away.')) : calls[name](input, once),
  });
}

const token = () => `Token ${service.account.token}`;
const bearer = (viewer: TestViewer) => `Bearer ${viewer.token}`;

/** A stream with a viewer, and everything that can be addressed in it. */
async function show() {
  const streamId = await service.createStream();
  const viewer = await service.viewer(streamId);
  const quiz = await service.publishQuiz(streamId, { reveal: 'manual', duration: 1_000 });
  return { streamId, viewer, quiz };
}

const studioAsk = async (operationId: string, ask: Ask = {}) =>
  contract.ask(service.url, operationId, { authorization: token(), ...ask });

async function made(operationId: string, ask: Ask): Promise<{ id: string }> {
  return (await (await studioAsk(operationId, ask)).json()) as { id: string };
}

/** What makes each operation succeed; each gives the statuses that it is to have. */
const SUCCESSES: Record<string, () => Promise<[Response, number][]>> = {
  readTime: async () => {
    const plain = { headers: { Accept: 'text/plain' } };
    const text = await contract.ask(service.url, 'readTime', plain);
    expect(text.headers.get('content-type')).toStartWith('text/plain');
    return [
      [await contract.ask(service.url, 'readTime'), 200],
      [text, 200],
    ];
  },
  readMe: async () => [[await studioAsk('readMe'), 200]],
  listStreams: async () => {
    for (let n = 0; n < 3; n++) await service.createStream();
    const query = `?producer=${service.account.uuid}&page_size=1`;
    return [
      [await contract.ask(service.url, 'listStreams', { query }), 200],
      [await studioAsk('listStreams', { query: `${query}&page=2` }), 200],
      [await contract.ask(service.url, 'listStreams', { query: `?producer=${randomUUID()}` }), 200],
    ];
  },
  readStream: async () => {
    const { streamId, viewer } = await show();
    const params = { stream_id: streamId };
    return [
      [await contract.ask(service.url, 'readStream', { params }), 200],
      [
        await contract.ask(service.url, 'readStream', { params, authorization: bearer(viewer) }),
        200,
      ],
    ];
  },
  createToken: async () => {
    const body = { stream_id: await service.createStream(), unique_user_identifier: 'user-42' };
    return [[await contract.ask(service.url, 'createToken', { body }), 200]];
  },
  readJwks: async () => [[await contract.ask(service.url, 'readJwks'), 200]],
  registerView: async () => {
    const { streamId, viewer } = await show();
    const ask = { params: { stream_id: streamId }, authorization: bearer(viewer) };
    return [[await contract.ask(service.url, 'registerView', ask), 204]];
  },
  readViewCount: async () => {
    const { streamId, viewer } = await show();
    const ask = { params: { stream_id: streamId }, authorization: bearer(viewer) };
    return [[await contract.ask(service.url, 'readViewCount', ask), 200]];
  },
  answerQuiz: async () => {
    const { streamId, viewer, quiz } = await show();
    const ask = {
      params: { quiz_id: quiz.id },
      authorization: bearer(viewer),
      body: { streamId, choice: 'Mars', closeInterval: quiz.closeInterval },
    };
    const other = { ...ask, body: { ...ask.body, choice: 'Venus' } };
    const unknown = { ...ask, params: { quiz_id: randomUUID() } };
    return [
      [await contract.ask(service.url, 'answerQuiz', ask), 204],
      [await contract.ask(service.url, 'answerQuiz', other), 409],
      [await contract.ask(service.url, 'answerQuiz', unknown), 404],
    ];
  },
  recordWinner: async () => {
    const streamId = await service.createStream();
    const viewer = await service.viewer(streamId);
    const ask = { params: { stream_id: streamId }, authorization: bearer(viewer) };
    const early = await contract.ask(service.url, 'recordWinner', ask);
    await service.studio('POST', `/streams/${streamId}/request-winners`);
    return [
      [early, 409],
      [await contract.ask(service.url, 'recordWinner', ask), 204],
    ];
  },
  readInterval: async () => {
    const { streamId, viewer, quiz } = await show();
    const from = service.interval();
    const ask = (interval: number | string, headers: Record<string, string> = {}) =>
      contract.ask(service.url, 'readInterval', {
        params: { stream_id: streamId },
        query: `?interval=${interval}`,
        authorization: bearer(viewer),
        headers,
      });
    const post = (body: object) => viewer.post(`/api/v1/events-streams/${streamId}/chats`, body);
    for (const kind of ['message', 'question', 'greeting', 'cheer']) {
      await post({ kind, text: 'Hello', name: 'Ada' });
    }
    await post({ kind: 'heart', count: 5 });
    for (const event of [
      { type: 'purchase', data: { text: 'two mugs' } },
      { type: 'discount', data: { count: 2 } },
      { type: 'lights', data: { colour: 'red' } },
      { type: 'dark', data: null },
    ]) {
      await service.studio('POST', `/streams/${streamId}/events`, event);
    }
    await viewer.post(`/api/v1/view-counts/${streamId}`);
    await service.advance(quiz.closeInterval - from + 1);
    await service.studio('POST', `/quizzes/${quiz.id}/reveal`);
    await service.studio('POST', `/streams/${streamId}/request-winners`);
    await service.advance(6);
    const types = new Set<string>();
    const responses: [Response, number][] = [];
    for (let interval = from; interval < service.interval(); interval++) {
      const response = await ask(interval);
      const { events } = (await response.clone().json()) as { events: { type: string }[] };
      for (const { type } of events) types.add(type);
      responses.push([response, 200]);
    }
    const all = ['chats', 'dark', 'lights', 'quiz', 'quiz-results', 'quiz-winners'];
    expect([...types].sort()).toEqual([...all, 'request-quiz-winners', 'view-count']);
    const etag = responses[0]?.[0].headers.get('etag') ?? '';
    const stream = await ask(from, { Accept: 'text/event-stream' });
    expect(stream.headers.get('content-type')).toStartWith('text/event-stream');
    await stream.body?.cancel();
    const wrong = await ask('01');
    expect(await wrong.clone().json()).toHaveProperty('interval', service.interval());
    return [
      ...responses,
      [await ask(from, { 'If-None-Match': etag }), 304],
      [stream, 200],
      [wrong, 400],
      [await ask(service.interval() + 5), 400],
    ];
  },
  postChat: async () => {
    const { streamId, viewer } = await show();
    const post = (body: object) =>
      contract.ask(service.url, 'postChat', {
        params: { stream_id: streamId },
        authorization: bearer(viewer),
        body,
      });
    return [
      [await post({ kind: 'message', text: 'Hello', name: 'Ada' }), 204],
      [await post({ kind: 'heart' }), 204],
      [await post({ kind: 'purchase', text: 'two mugs' }), 400],
    ];
  },
  readAccount: async () => [[await studioAsk('readAccount'), 200]],
  createApiToken: async () => {
    const ask = { body: { name: 'laptop' }, headers: { 'Idempotency-Key': randomUUID() } };
    return [
      [await studioAsk('createApiToken', ask), 201],
      [await studioAsk('createApiToken', ask), 409],
    ];
  },
  listApiTokens: async () => [[await studioAsk('listApiTokens'), 200]],
  revokeApiToken: async () => {
    const { id } = await made('createApiToken', { body: { name: 'old' } });
    const ask = { params: { token_id: id } };
    return [
      [await studioAsk('revokeApiToken', ask), 204],
      [await studioAsk('revokeApiToken', ask), 404],
    ];
  },
  createStream: async () => [
    [await studioAsk('createStream', { body: { title: 'Quiz night' } }), 201],
    [await studioAsk('createStream', { body: { title: '' } }), 400],
  ],
  listOwnStreams: async () => {
    await service.createStream({ unlisted: true });
    return [[await studioAsk('listOwnStreams'), 200]];
  },
  readOwnStream: async () => inStream('readOwnStream', {}, 200),
  patchStream: async () => inStream('patchStream', { body: { title: 'Part two' } }, 200),
  startStream: async () => {
    const params = { stream_id: await service.createStream() };
    const started = await studioAsk('startStream', { params });
    await service.studio('POST', `/streams/${params.stream_id}/end`);
    return [
      [started, 200],
      [await studioAsk('startStream', { params }), 409],
    ];
  },
  endStream: async () => [
    ...(await inStream('endStream', { body: { at: intervalStartMs(9_000_000_000) } }, 200)),
    ...(await inStream('endStream', {}, 200)),
  ],
  createQuiz: async () => inStream('createQuiz', { body: QUIZ }, 201),
  listQuizzes: async () => inStream('listQuizzes', {}, 200),
  readQuiz: async () => {
    const { quiz } = await show();
    const params = { quiz_id: quiz.id };
    const open = await studioAsk('readQuiz', { params });
    await service.advance(quiz.closeInterval - service.interval() + 1);
    return [
      [open, 200],
      [await studioAsk('readQuiz', { params }), 200],
      [await studioAsk('readQuiz', { params: { quiz_id: randomUUID() } }), 404],
    ];
  },
  patchQuiz: async () => {
    const { streamId, quiz } = await show();
    const { id } = await made('createQuiz', { params: { stream_id: streamId }, body: QUIZ });
    const body = { question: 'Which one has rings?' };
    return [
      [await studioAsk('patchQuiz', { params: { quiz_id: id }, body }), 200],
      [await studioAsk('patchQuiz', { params: { quiz_id: quiz.id }, body }), 409],
    ];
  },
  deleteQuiz: async () => {
    const { streamId, quiz } = await show();
    const { id } = await made('createQuiz', { params: { stream_id: streamId }, body: QUIZ });
    return [
      [await studioAsk('deleteQuiz', { params: { quiz_id: id } }), 204],
      [await studioAsk('deleteQuiz', { params: { quiz_id: quiz.id } }), 409],
    ];
  },
  publishQuiz: async () => {
    const params = { stream_id: await service.createStream() };
    const { id } = await made('createQuiz', { params, body: QUIZ });
    const ask = { params: { quiz_id: id } };
    return [
      [await studioAsk('publishQuiz', ask), 200],
      [await studioAsk('publishQuiz', ask), 409],
    ];
  },
  revealQuiz: async () => {
    const { quiz } = await show();
    const ask = { params: { quiz_id: quiz.id } };
    const early = await studioAsk('revealQuiz', ask);
    await service.advance(quiz.closeInterval - service.interval() + 1);
    return [
      [early, 409],
      [await studioAsk('revealQuiz', ask), 200],
    ];
  },
  requestWinners: async () => {
    const ask = { params: { stream_id: await service.createStream() } };
    return [
      [await studioAsk('requestWinners', ask), 201],
      [await studioAsk('requestWinners', ask), 409],
    ];
  },
  listWinnersRounds: async () => {
    const params = { stream_id: await service.createStream() };
    await studioAsk('requestWinners', { params });
    const open = await studioAsk('listWinnersRounds', { params });
    await service.advance(6);
    return [
      [open, 200],
      [await studioAsk('listWinnersRounds', { params }), 200],
    ];
  },
  sendEvent: async () => [
    ...(await inStream('sendEvent', { body: { type: 'purchase', data: { text: 'mug' } } }, 201)),
    ...(await inStream('sendEvent', { body: { type: 'discount' } }, 201)),
    ...(await inStream('sendEvent', { body: { type: 'lights', data: null } }, 201)),
    ...(await inStream('sendEvent', { body: { type: 'quiz', data: null } }, 400)),
  ],
  exportAnswers: () => exported('exportAnswers'),
  exportWinners: () => exported('exportWinners'),
  exportFeed: () => exported('exportFeed'),
};

/** The operation in a new stream, and in one that there is not. */
async function inStream(
  operationId: string,
  ask: Ask,
  status: number,
): Promise<[Response, number][]> {
  const params = { stream_id: await service.createStream() };
  const missing = { stream_id: randomUUID() };
  const unknown = status < 400 ? 404 : status;
  return [
    [await studioAsk(operationId, { ...ask, params }), status],
    [await studioAsk(operationId, { ...ask, params: missing }), unknown],
  ];
}

async function exported(operationId: string): Promise<[Response, number][]> {
  const { streamId } = await show();
  await service.advance(2);
  const params = { stream_id: streamId };
  const csv = await studioAsk(operationId, { params, query: '?format=csv' });
  expect(csv.headers.get('content-type')).toStartWith('text/csv');
  return [
    ...(await inStream(operationId, {}, 200)),
    [await studioAsk(operationId, { params }), 200],
    [csv, 200],
    [await studioAsk(operationId, { params, query: '?format=xml' }), 400],
  ];
}

/** Parameters and a credential that the operation admits; every id is one that there is. */
async function admitted({ operationId, security }: DocumentedOperation): Promise<Ask> {
  const { streamId, viewer, quiz } = await show();
  const { id } = await made('createApiToken', { body: { name: 'spare' } });
  const params = { stream_id: streamId, quiz_id: quiz.id, token_id: id };
  const isViewer = security.some((scheme) => 'ViewerToken' in scheme) && security.length === 1;
  const query = {
    readInterval: `?interval=1`,
    listStreams: `?producer=${service.account.uuid}`,
  };
  return {
    params,
    query: query[operationId as keyof typeof query] ?? '',
    authorization: isViewer ? bearer(viewer) : security.length > 0 ? token() : undefined,
  };
}

const accepts = ['application/problem+json', 'application/json', '*/*'];

describe('every operation', () => {
  test('[O-15] of the two APIs is in the document, and no other', () => {
    const operations: [string, Operation][] = Object.entries({ ...viewerApi, ...studioApi });
    const described = operations.map(([id, { method, path }]) => `${id} ${method} ${path}`);
    const documented = contract.operations.map(
      ({ operationId, method, path }) => `${operationId} ${method.toUpperCase()} ${path}`,
    );
    expect(documented.sort()).toEqual(described.sort());
    expect(Object.keys(SUCCESSES).sort()).toEqual(operations.map(([id]) => id).sort());
  });

  test.each(Object.keys(SUCCESSES))('[O-15] %s answers as documented', async (operationId) => {
    const answers = await SUCCESSES[operationId]?.();
    const statuses = answers?.map(([response]) => response.status);
    expect(statuses).toEqual(answers?.map(([, status]) => status) ?? []);
  });

  test.each(contract.operations)('[O-15] $operationId refuses as documented', async (operation) => {
    const { operationId, hasBody, security } = operation;
    const ask = await admitted(operation);
    const expected: [Ask, number][] = [[{ ...ask, query: '?a=%zz' }, 400]];
    if (security.length > 0) {
      expected.push([{ ...ask, authorization: 'Bearer x' }, 401]);
      expected.push([{ ...ask, authorization: `Token fb_${'a'.repeat(40)}` }, 401]);
    }
    if (hasBody) {
      expected.push([{ ...ask, text: '{"a":1' }, 400]);
      expected.push([{ ...ask, text: '{}', headers: { 'Content-Type': 'text/plain' } }, 415]);
    }
    if (operation.method !== 'get') expected.push([{ ...ask, text: ' '.repeat(17_000) }, 413]);
    for (const [wrong, status] of expected) {
      for (const accept of accepts) {
        const headers = { ...wrong.headers, Accept: accept };
        const response = await contract.ask(service.url, operationId, { ...wrong, headers });
        expect(`${accept} ${response.status}`).toBe(`${accept} ${status}`);
        expect(response.headers.get('content-type')).toBe(
          accept === '*/*' ? 'application/json' : accept,
        );
      }
    }
  });

  test.each(contract.operations.filter(({ security }) => security.length > 0))(
    '[O-15] $operationId is 429 as documented, and 503 while the record is away',
    async (operation) => {
      const { operationId } = operation;
      const failed = {
        authorization: 'Token x',
        params: { stream_id: randomUUID() },
        headers: { 'X-Forwarded-For': operationId },
      };
      const first = await contract.ask(limited.url, operationId, failed);
      const second = await contract.ask(limited.url, operationId, failed);
      expect([first.status, second.status]).toEqual([401, 429]);
      const ask = await admitted(operation);
      isAway = true;
      try {
        const answer = await contract.ask(service.url, operationId, ask);
        if (ask.authorization?.startsWith('Token')) expect(answer.status).toBe(503);
      } finally {
        isAway = false;
      }
    },
  );

  test('[O-15] was seen to succeed and to refuse', () => {
    for (const { operationId } of contract.operations) {
      const statuses = [...(contract.seen.get(operationId) ?? [])];
      const kinds = [statuses.some((n) => n < 400), statuses.some((n) => n >= 400)];
      expect([operationId, ...kinds]).toEqual([operationId, true, true]);
    }
  });
});

describe('the document', () => {
  test('[O-15] [O-16] is served at /openapi.json, and to people at /docs', async () => {
    const data = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
    const server = await startServer({
      config: configOf({ host: '127.0.0.1', port: 0, data }),
      logger: pino({ level: 'silent' }),
      version: '1.2.3',
      onLost: () => {},
    });
    try {
      const served = await fetch(`http://127.0.0.1:${server.port}/openapi.json`);
      expect(await expectJson<object>(served, 200)).toEqual(document);
      const page = await fetch(`http://127.0.0.1:${server.port}/docs`);
      expect(await page.text()).toContain('<title>Fourbeat API</title>');
    } finally {
      await server.stop(2_000);
      rmSync(data, { recursive: true, force: true });
    }
  });

  test('has references that lead somewhere, and nothing under components that nobody uses', () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    const components = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`));
    expect([...used].sort()).toEqual(components.sort());
  });

  test('declares every path parameter, and a tag for every operation', () => {
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    const usedTags = new Set<string>();
    for (const [path, item] of Object.entries(document.paths)) {
      for (const operation of Object.values(item)) {
        const parameters = (operation.parameters ?? []) as { name: string; in: string }[];
        const declared = parameters.filter((part) => part.in === 'path').map(({ name }) => name);
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''));
        for (const tag of operation.tags as string[]) usedTags.add(tag);
      }
    }
    expect([...usedTags].sort()).toEqual(tags.sort());
  });

  test('has examples that fit their own schemas', () => {
    const schemas = document.components.schemas as Record<string, { examples?: unknown[] }>;
    let count = 0;
    for (const [name, { examples = [] }] of Object.entries(schemas)) {
      for (const example of examples) {
        contract.validate(`example of ${name}`, `openapi#/components/schemas/${name}`, example);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(10);
  });

  test('does not close answers to members of later versions', () => {
    const { User, NewStream } = document.components.schemas as Record<string, object>;
    expect(User).not.toHaveProperty('additionalProperties');
    expect(NewStream).toHaveProperty('additionalProperties', false);
  });

  test('names both kinds of credential', () => {
    expect(document.components.securitySchemes).toMatchObject({
      ViewerToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      ServiceToken: { type: 'apiKey', in: 'header', name: 'Authorization' },
    });
  });
});

describe('the contract', () => {
  const headers = {
    Allow: 'GET, HEAD, OPTIONS',
    Vary: 'Accept',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Content-Type': 'application/json',
  };
  const body = { now: 1, interval: 0 };
  const without = (name: string) =>
    Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));

  test.each([
    ['another status', body, { status: 418, headers }],
    ['a missing header', body, { headers: without('Vary') }],
    ['a header with another value', body, { headers: { ...headers, Vary: 'Cookie' } }],
    ['another type', body, { headers: { ...headers, 'Content-Type': 'text/html' } }],
    ['no type', body, { headers: without('Content-Type') }],
    ['a missing member', { now: 1 }, { headers }],
    ['a member that is not documented', { ...body, zone: 'UTC' }, { headers }],
    ['a member of another type', { ...body, now: '1' }, { headers }],
  ])('sees %s', async (_, sent, init) => {
    const fits = new Response(JSON.stringify(body), { headers });
    await contract.check('readTime', fits);
    const response = new Response(JSON.stringify(sent), init as ResponseInit);
    const refusal = await contract.check('readTime', response).catch((error) => error);
    expect(refusal).toBeInstanceOf(Error);
  });

  test('sees a body where there is to be none', async () => {
    const { 'Content-Type': _, ...bare } = headers;
    await contract.check('registerView', new Response(null, { status: 204, headers: bare }));
    const response = new Response(null, { status: 204, headers });
    const refusal = await contract.check('registerView', response).catch((error) => error);
    expect(refusal).toBeInstanceOf(Error);
  });
});
