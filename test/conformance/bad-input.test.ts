import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MEMBERS } from '../support/conformance/body-members.ts';
import { expectNoDefects, expectProblem } from '../support/conformance/expectations.ts';
import {
  type MalformedBody,
  malformedBodies,
  malformedMembers,
} from '../support/conformance/malformed-bodies.ts';
import {
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
  send,
  type ValidRequest,
  validRequest,
  without,
} from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';

const harness = await serviceOfFile();
afterAll(() => expectNoDefects(harness));

const WITH_BODY = OPERATION_NAMES.filter((name) => OPERATIONS[name].body);
const isStudio = (name: keyof typeof OPERATIONS) => OPERATIONS[name].role === 'studio';
const sendText = (request: ValidRequest, body: RequestInit['body']) =>
  send(harness, request, { body });

async function expectRejected(request: ValidRequest, { fault, text, expected }: MalformedBody) {
  const response = await sendText(request, text);
  if (response.status !== 400) {
    throw new Error(`${fault} gave ${response.status}: ${await response.text()}`);
  }
  const { detail } = await expectProblem(response, 400);
  expect([fault, detail]).toEqual([fault, expect.stringContaining(expected)]);
}

test('[G-21] this file covers every operation that takes a body', () => {
  expect(Object.keys(MEMBERS).sort()).toEqual([...WITH_BODY].sort());
  expect(WITH_BODY.length).toBeGreaterThanOrEqual(10);
});

describe.each(WITH_BODY)('%s', (name) => {
  const members = MEMBERS[name] ?? {};
  let request: ValidRequest;
  beforeAll(async () => {
    request = await validRequest(harness, name);
    expect(Object.keys(request.body ?? {}).sort()).toEqual(Object.keys(members).sort());
  });
  // After all rejected requests the valid one still works: they had no effect.
  afterAll(async () => {
    const response = await send(harness, request);
    expect([name, response.ok]).toEqual([name, true]);
  });

  test(`[G-20] [G-21] [G-22] ${name} returns 400 for each member missing, null, of a wrong type, empty, too long or malformed`, async () => {
    for (const malformed of malformedMembers(request.body ?? {}, members)) {
      await expectRejected(request, malformed);
    }
  });

  test(`[G-19] [G-20] ${name} returns 400 for a body that is not a strict JSON object`, async () => {
    for (const malformed of malformedBodies(request.body ?? {})) {
      // An empty body counts as absent where the body is optional.
      if (OPERATIONS[name].bodyOptional && malformed.fault === 'no body') continue;
      await expectRejected(request, malformed);
    }
  });

  test(`[G-7] [P-3] ${name} ignores unknown members in /api/v1 and returns 400 in /studio/v1`, async () => {
    const fresh = await validRequest(harness, name);
    for (const extra of ['extra', 'constructor', 'toString', 'Title', '', 'é']) {
      const body = { ...fresh.body, [extra]: 1 };
      const response = await send(harness, fresh, { body: JSON.stringify(body) });
      if (isStudio(name)) {
        expect((await expectProblem(response, 400)).detail).toContain(`"${extra}"`);
      } else expect(response.ok).toBe(true);
    }
  });

  test(`[G-18] ${name} returns 415 for a wrong or missing content type, charset or encoding`, async () => {
    const types = [
      null,
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json-seq',
      'text/json',
      'application/json; charset=utf-16',
      'application/json; charset=iso-8859-1',
      'application/json; foo=bar; charset=utf-16',
      'application/json; charset=utf-8; charset=latin1',
      'application/json; foo=bar, text/plain',
      'application/json, text/plain',
    ];
    for (const type of types) {
      const bare = without(request, 'Content-Type');
      const headers = { ...bare.headers, ...(type === null ? {} : { 'Content-Type': type }) };
      // Send bytes, because fetch sets a content type for strings.
      const body = new TextEncoder().encode(JSON.stringify(request.body));
      await expectProblem(await send(harness, { ...bare, headers }, { body }), 415);
    }
    for (const encoding of ['gzip', 'br', 'x']) {
      const headers = { ...request.headers, 'Content-Encoding': encoding };
      await expectProblem(await send(harness, { ...request, headers }), 415);
    }
  });

  test('[G-18] the content type is case-insensitive and may carry charset=utf-8 and other parameters', async () => {
    for (const type of [
      'application/json;charset=utf-8',
      'Application/JSON; Charset="UTF-8"',
      'application/json ; charset=utf-8',
      'application/json;',
      'application/json; foo=bar',
      'application/json; foo="bar"; charset=utf-8',
    ]) {
      const headers = { ...request.headers, 'Content-Type': type };
      await expectProblem(await send(harness, { ...request, headers }, { body: '[]' }), 400);
    }
  });

  test('[L-1] [G-17] a body over the limit returns 413, whether announced or chunked', async () => {
    const limit = OPERATIONS[name].bodyBytes;
    const fresh = await validRequest(harness, name);
    const padded = (length: number) => {
      const text = JSON.stringify(fresh.body);
      return `${text.slice(0, -1)}${' '.repeat(length - Buffer.byteLength(text))}}`;
    };
    const chunked = (text: string) =>
      new ReadableStream({
        start(controller) {
          for (let offset = 0; offset < text.length; offset += 1_000) {
            controller.enqueue(new TextEncoder().encode(text.slice(offset, offset + 1_000)));
          }
          controller.close();
        },
      });
    for (const length of [limit + 1, limit * 4]) {
      const { detail } = await expectProblem(await sendText(fresh, padded(length)), 413);
      expect(detail).toContain(`${limit}`);
      await expectProblem(await sendText(fresh, chunked(padded(length))), 413);
    }
    expect((await sendText(fresh, padded(limit))).ok).toBe(true);
    const again = await validRequest(harness, name);
    expect((await sendText(again, chunked(JSON.stringify(again.body)))).ok).toBe(true);
  });
});

describe('validation errors', () => {
  test('[P-11] [P-18] an empty patch returns 400', async () => {
    for (const name of ['patchStream', 'patchQuiz'] as const) {
      const request = await validRequest(harness, name);
      expect((await expectProblem(await sendText(request, '{}'), 400)).detail).toContain('field');
    }
  });

  const EXPECTED_DETAILS: [OperationName, Record<string, unknown>, string][] = [
    ['createStream', {}, 'title: is missing; send a string.'],
    ['createStream', { title: [] }, 'title: must be a string, not an array.'],
    ['createStream', { title: '' }, 'title: must not be empty.'],
    ['createStream', { title: ' ' }, 'title: must not be blank.'],
    ['createStream', { title: null }, 'title: must be a string, not null.'],
    [
      'createStream',
      { title: 'a', latencyAllowance: 1.5 },
      'latencyAllowance: must be a whole number.',
    ],
    [
      'createStream',
      { title: 'a', latencyAllowance: 60_001 },
      'latencyAllowance: must be at most 60000.',
    ],
    ['createToken', { unique_user_identifier: 'a' }, 'stream_id: is missing; send a string.'],
    ['createToken', { stream_id: 'a', unique_user_identifier: 'a' }, 'stream_id: must be a uuid.'],
    [
      'postChat',
      { kind: 'wave' },
      'kind: must be one of "message", "question", "greeting", "cheer", "heart".',
    ],
    [
      'postChat',
      {},
      'kind: is missing; send one of "message", "question", "greeting", "cheer", "heart".',
    ],
    ['postChat', { kind: 'cheer' }, 'text: is missing; send a string.'],
    ['sendEvent', { type: 'purchase', data: { text: '' } }, 'data.text: must not be empty.'],
    ['sendEvent', { type: 'lights' }, 'data: is missing; send an object.'],
  ];
  test.each(EXPECTED_DETAILS)(
    '[G-21] the error for %s %j names what to change',
    async (name, body, expected) => {
      const request = await validRequest(harness, name);
      const response = await sendText(request, JSON.stringify(body));
      expect((await expectProblem(response, 400)).detail).toBe(expected);
    },
  );

  test('[P-7] [P-11] a URL is stored as it is sent, not made canonical', async () => {
    const url = 'HTTPS://Example.org:443/a/../show%20.mpd?x=é';
    for (const name of ['createStream', 'patchStream'] as const) {
      const request = await validRequest(harness, name);
      const body = { ...(name === 'createStream' && { title: 'a' }), dash_url: url };
      const response = await sendText(request, JSON.stringify(body));
      expect(((await response.json()) as { dash_url: string }).dash_url).toBe(url);
    }
  });

  test('[G-21] one error names several wrong members', async () => {
    const request = await validRequest(harness, 'createToken');
    const { detail } = await expectProblem(await sendText(request, '{}'), 400);
    expect(detail).toContain('stream_id');
    expect(detail).toContain('unique_user_identifier');
  });

  test('[G-20] a body nested 8 levels deep, itself included, is accepted', async () => {
    const request = await validRequest(harness, 'sendEvent');
    const data = `${'{"a":'.repeat(6)}[]${'}'.repeat(6)}`;
    const response = await sendText(request, `{"type":"deep","data":${data}}`);
    expect(response.status).toBe(201);
  });

  const EVENTS: [string, Record<string, unknown>][] = [
    ['type', { type: 'chats', data: null }],
    ['type', { type: 'view-count', data: null }],
    ['type', { type: 'quiz', data: null }],
    ['type', { type: 'quiz-results', data: null }],
    ['type', { type: 'request-quiz-winners', data: null }],
    ['type', { type: 'quiz-winners', data: { count: 7 } }],
    ['type', { type: 'Lights', data: null }],
    ['type', { type: '1st', data: null }],
    ['type', { type: 'a'.repeat(41), data: null }],
    ['type', { type: 'a b', data: null }],
    ['data', { type: 'lights' }],
    ['data', { type: 'lights', data: 7 }],
    ['data', { type: 'lights', data: [] }],
    ['text', { type: 'purchase', data: {} }],
    ['text', { type: 'purchase', data: { text: '' } }],
    ['text', { type: 'purchase', data: { text: 'a\0' } }],
    ['text', { type: 'purchase', data: { text: 'x'.repeat(281) } }],
    ['name', { type: 'purchase', data: { text: 'x', name: 'n'.repeat(41) } }],
    ['extra', { type: 'purchase', data: { text: 'x', extra: 1 } }],
    ['data', { type: 'purchase', data: null }],
    ['count', { type: 'discount', data: { count: 0 } }],
    ['count', { type: 'discount', data: { count: 1_000_001 } }],
    ['count', { type: 'discount', data: { count: 1.5 } }],
    ['count', { type: 'discount', data: { count: '1' } }],
    ['data', { type: 'lights', data: { text: 'x'.repeat(4_090) } }],
  ];
  test.each(EVENTS)(
    '[P-24] [P-25] [G-21] an event with a wrong %s returns 400: %j',
    async (expected, body) => {
      const request = await validRequest(harness, 'sendEvent');
      const response = await sendText(request, JSON.stringify(body));
      expect((await expectProblem(response, 400)).detail).toContain(expected);
    },
  );
});
