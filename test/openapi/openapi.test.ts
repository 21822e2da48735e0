import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { WEBHOOK_EVENTS } from '../../protocol/webhooks.ts';
import { openEmbedded } from '../../server/app/backends-embedded.ts';
import type { Store } from '../../server/app/procedures.ts';
import { startServer } from '../../server/app/server.ts';
import { createConfig } from '../../server/platform/config.ts';
import { Unavailable } from '../../server/platform/errors.ts';
import { openApiDocument } from '../../server/web/openapi.ts';
import { HIGH_RATES, OPERATIONS, type OperationName } from '../support/conformance/operations.ts';
import { SOME_BACKENDS } from '../support/full-run.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';
import {
  Contract,
  type DocumentedOperation,
  type OperationRequest,
} from '../support/openapi/contract.ts';
import { bearer, type Exercises, Fixture, WEBHOOK } from '../support/openapi/fixture.ts';
import { studioExercises } from '../support/openapi/studio.ts';
import { viewerExercises } from '../support/openapi/viewer.ts';
import { webhookExercises } from '../support/openapi/webhooks.ts';

const document = openApiDocument('1.2.3');
const contract = new Contract(document);

let isUnavailable = false;

/** A store whose calls fail while `isUnavailable`. */
function withOutage(store: Store): Store {
  return new Proxy(store, {
    get: (store, name: keyof Store) => (input: never, once?: never) =>
      isUnavailable
        ? Promise.reject(new Unavailable('The database is unavailable.'))
        : store[name](input, once),
  });
}

/** A request with a valid credential and existing ids. */
async function authorizedRequest(
  fixture: Fixture,
  { operationId, security }: DocumentedOperation,
): Promise<OperationRequest> {
  const { account } = fixture.service;
  const { streamId, viewer, quiz } = await fixture.createShow();
  const token_id = await fixture.sharedId('createApiToken', { name: 'spare' });
  const invitee = { email: 'spare@example.org', role: 'host' };
  const invitation_id = await fixture.sharedId('invite', invitee);
  const { browser, uuid: member_id } = await fixture.host();
  const webhook_id = await fixture.sharedId('createWebhook', WEBHOOK);
  const delivery_id = await fixture.createdId('testWebhook', { params: { webhook_id } });
  const ofAccount = { token_id, invitation_id, member_id, webhook_id, delivery_id };
  const params = { stream_id: streamId, quiz_id: quiz.id, ...ofAccount };
  if (security.every((scheme) => 'Session' in scheme) && security.length > 0) {
    return { params, headers: { Cookie: `${browser.cookie}`, 'X-CSRF-Token': `${browser.csrf}` } };
  }
  const isViewer = security.some((scheme) => 'ViewerToken' in scheme) && security.length === 1;
  const query = {
    readInterval: `?interval=1`,
    listStreams: `?producer=${account.uuid}`,
  };
  return {
    params,
    query: query[operationId as keyof typeof query] ?? '',
    authorization: isViewer
      ? bearer(viewer)
      : security.length > 0
        ? `Token ${account.token}`
        : undefined,
  };
}

const accepts = ['application/problem+json', 'application/json', '*/*'];

// Both backends must return the same statuses.
describe.each(SOME_BACKENDS)('every operation on %s backends', (backends) => {
  let service: Harness;
  let limited: Harness;
  let fixture: Fixture;
  let exercises: Exercises;
  const contract = new Contract(document);

  beforeAll(async () => {
    // By default token creation ignores the credential (T-16).
    const tokenAuth = 'producer';
    const serviceConfig = { rates: HIGH_RATES, tokenAuth } as const;
    service = await startService({ backends, config: serviceConfig, store: withOutage });
    fixture = new Fixture(service, contract);
    exercises = {
      ...viewerExercises(fixture),
      ...studioExercises(fixture),
      ...webhookExercises(fixture),
    };
    // One failed authentication per address; each operation is tested from its own address.
    const failedAuth = { points: 1, durationS: 60 };
    const config = { rates: { ...HIGH_RATES, failedAuth }, trustProxy: true, tokenAuth } as const;
    limited = await startService({ backends, config });
  }, 30_000);
  afterAll(async () => {
    await service.close();
    await limited.close();
  });

  test('[O-15] the document has exactly the operations of both APIs', () => {
    const operations: [string, Operation][] = Object.entries({ ...viewerApi, ...studioApi });
    const described = operations.map(([id, { method, path }]) => `${id} ${method} ${path}`);
    const documented = contract.operations.map(
      ({ operationId, method, path }) => `${operationId} ${method.toUpperCase()} ${path}`,
    );
    expect(documented.sort()).toEqual(described.sort());
    expect(Object.keys(exercises).sort()).toEqual(operations.map(([id]) => id).sort());
  });

  test.each(contract.operations)(
    '[O-15] $operationId returns documented responses',
    async (operation) => {
      const responses = await exercises[operation.operationId]?.();
      const statuses = responses?.map(([response]) => response.status);
      expect(statuses).toEqual(responses?.map(([, status]) => status) ?? []);
    },
  );

  test.each(contract.operations)(
    '[O-15] $operationId returns documented errors',
    async (operation) => {
      const { operationId, hasBody, security } = operation;
      const validRequest = await authorizedRequest(fixture, operation);
      const expected: [OperationRequest, number][] = [[{ ...validRequest, query: '?a=%zz' }, 400]];
      if (security.length > 0) {
        expected.push([{ ...validRequest, authorization: 'Bearer x' }, 401]);
        expected.push([{ ...validRequest, authorization: `Token fb_${'a'.repeat(40)}` }, 401]);
      }
      if (hasBody) {
        expected.push([{ ...validRequest, text: '{"a":1' }, 400]);
        const headers = { ...validRequest.headers, 'Content-Type': 'text/plain' };
        expected.push([{ ...validRequest, text: '{}', headers }, 415]);
      }
      const { bodyBytes } = OPERATIONS[operationId as OperationName];
      if (operation.method !== 'get') {
        expected.push([{ ...validRequest, text: ' '.repeat(bodyBytes + 1) }, 413]);
      }
      for (const [wrong, status] of expected) {
        for (const accept of accepts) {
          const headers = { ...wrong.headers, Accept: accept };
          const response = await contract.send(service.url, operationId, { ...wrong, headers });
          expect(`${accept} ${response.status}`).toBe(`${accept} ${status}`);
          expect(response.headers.get('content-type')).toBe(
            accept === '*/*' ? 'application/json' : accept,
          );
        }
      }
    },
  );

  test.each(contract.operations.filter(({ security }) => security.length > 0))(
    '[O-15] $operationId returns documented 429 responses, and 503 while the database is unavailable',
    async (operation) => {
      const { operationId } = operation;
      const failed = {
        authorization: 'Token x',
        params: { stream_id: randomUUID() },
        headers: { 'X-Forwarded-For': operationId },
      };
      const first = await contract.send(limited.url, operationId, failed);
      const second = await contract.send(limited.url, operationId, failed);
      expect([first.status, second.status]).toEqual([401, 429]);
      const validRequest = await authorizedRequest(fixture, operation);
      isUnavailable = true;
      try {
        const response = await contract.send(service.url, operationId, validRequest);
        if (validRequest.authorization?.startsWith('Token')) expect(response.status).toBe(503);
      } finally {
        isUnavailable = false;
      }
    },
  );

  test('[O-15] every operation was tested with a success and an error', () => {
    for (const { operationId } of contract.operations) {
      const statuses = [...(contract.checkedStatuses.get(operationId) ?? [])];
      const kinds = [statuses.some((n) => n < 400), statuses.some((n) => n >= 400)];
      expect([operationId, ...kinds]).toEqual([operationId, true, true]);
    }
  });
});

describe('the document', () => {
  test('[O-15] [O-16] the document is served at /openapi.json and shown at /docs', async () => {
    using folder = temporaryFolder();
    const server = await startServer({
      config: createConfig({ host: '127.0.0.1', port: 0, data: folder.path('data') }),
      logger: pino({ level: 'silent' }),
      version: '1.2.3',
      openBackends: openEmbedded,
      onFailed: () => {},
    });
    try {
      const served = await fetch(`http://127.0.0.1:${server.port}/openapi.json`);
      expect(await expectJson<object>(served, 200)).toEqual(document);
      const page = await fetch(`http://127.0.0.1:${server.port}/docs`);
      expect(await page.text()).toContain('<title>Fourbeat API</title>');
    } finally {
      await server.stop(2_000);
    }
  });

  test('references in the document resolve, and all components are used', () => {
    const text = JSON.stringify(document);
    const used = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    const components = Object.entries(document.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`));
    expect([...used].sort()).toEqual(components.sort());
  });

  test('the document declares every path parameter and a tag for every operation', () => {
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    const usedTags = new Set<string>();
    for (const [path, item] of Object.entries({ ...document.paths, ...document.webhooks })) {
      for (const operation of Object.values(item)) {
        const parameters = (operation.parameters ?? []) as { name: string; in: string }[];
        const declared = parameters.filter((part) => part.in === 'path').map(({ name }) => name);
        expect(declared).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''));
        for (const tag of operation.tags as string[]) usedTags.add(tag);
      }
    }
    expect([...usedTags].sort()).toEqual(tags.sort());
  });

  test('[H-23] the document describes every delivery type, and the contract checks deliveries', () => {
    expect(Object.keys(document.webhooks).sort()).toEqual([...WEBHOOK_EVENTS, 'test'].sort());
    const headers = {
      'webhook-id': randomUUID(),
      'webhook-timestamp': '1760000000',
      'webhook-signature': `v1,${'a'.repeat(43)}=`,
    };
    const message = { type: 'test', timestamp: '2026-01-01T00:00:00.000Z' };
    const delivery = (data: object) => JSON.stringify({ ...message, data });
    contract.checkDelivery(headers, delivery({ webhookId: randomUUID() }));
    const wrong: [Record<string, string>, string][] = [
      [headers, delivery({})],
      [headers, delivery({ webhookId: randomUUID(), more: 1 })],
      [{ ...headers, 'webhook-signature': 'v1,a' }, delivery({ webhookId: randomUUID() })],
      [headers, JSON.stringify({ ...message, type: 'other', data: {} })],
    ];
    for (const [sent, body] of wrong) {
      expect(() => contract.checkDelivery(sent, body)).toThrow();
    }
  });

  test('examples in the document match their schemas', () => {
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

  test('response schemas allow members of later versions', () => {
    const { User, NewStream } = document.components.schemas as Record<string, object>;
    expect(User).not.toHaveProperty('additionalProperties');
    expect(NewStream).toHaveProperty('additionalProperties', false);
  });

  test('the document describes every kind of credential', () => {
    expect(document.components.securitySchemes).toMatchObject({
      ViewerToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      ServiceToken: { type: 'apiKey', in: 'header', name: 'Authorization' },
      Session: { type: 'apiKey', in: 'cookie', name: 'fourbeat' },
      CsrfToken: { type: 'apiKey', in: 'header', name: 'X-CSRF-Token' },
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
  ])('the contract detects %s', async (_, sent, init) => {
    const fits = new Response(JSON.stringify(body), { headers });
    await contract.check('readTime', fits);
    const response = new Response(JSON.stringify(sent), init as ResponseInit);
    const failure = await contract.check('readTime', response).catch((error) => error);
    expect(failure).toBeInstanceOf(Error);
  });

  test('the contract detects an unexpected body', async () => {
    const { 'Content-Type': _, ...bare } = headers;
    await contract.check('registerView', new Response(null, { status: 204, headers: bare }));
    const response = new Response(null, { status: 204, headers });
    const failure = await contract.check('registerView', response).catch((error) => error);
    expect(failure).toBeInstanceOf(Error);
  });
});
