import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { hashSecret } from '../../server/auth/secrets.ts';
import { createConfig } from '../../server/platform/config.ts';
import { EXAMPLE_BODIES } from '../support/conformance/example-bodies.ts';
import { PRODUCT } from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  type Account,
  databaseFiles,
  expectJson,
  type Harness,
  startService,
} from '../support/harness/harness.ts';
import { DETAILS, newAskedWinner } from '../support/quizzes/asked-winner.ts';
import { inviteMember, newMember } from '../support/studio/user-agent.ts';

interface CreatedToken {
  readonly id: string;
  readonly token: string;
}
interface Listed {
  readonly results: readonly Record<string, unknown>[];
}

const PATH_PARAMETERS = [
  ...['stream_id', 'quiz_id', 'token_id', 'invitation_id', 'member_id'],
  ...['webhook_id', 'delivery_id', 'viewer', 'line_id', 'product_id', 'round_id'],
];

type NamedOperation = readonly [keyof typeof studioApi, Operation];
const operations = Object.entries(studioApi) as NamedOperation[];

/** Sends an operation with a valid body, its path parameters filled in. */
function call(
  service: Harness,
  [name, { method, path }]: NamedOperation,
  ids: Record<string, string>,
  authorization: string,
): Promise<Response> {
  const body = EXAMPLE_BODIES[name];
  return fetch(service.url + path.replace(/\{(\w+)\}/g, (_, id) => ids[id] ?? randomUUID()), {
    method,
    headers: {
      Authorization: authorization,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const RATES = createConfig({}).rates;

const service = await serviceOfFile({
  config: { rates: { ...RATES, failedAuth: { points: 10_000, durationS: 60 } } },
});

const makeToken = async (name = 'laptop', account?: Account): Promise<CreatedToken> =>
  expectJson(
    await service.studio('POST', '/api-tokens', { name }, account && { token: account.token }),
    201,
  );

describe('access to the studio API', () => {
  test('[P-2] resources of another account get 404 and do not change', async () => {
    const other = await service.createAccount();
    const stream_id = await service.createStream({ title: 'Mine' });
    const draft = await service.studio(
      'POST',
      `/streams/${stream_id}/quizzes`,
      EXAMPLE_BODIES.createQuiz,
    );
    const { id: quiz_id } = await expectJson<{ id: string }>(draft, 201);
    const products = `/streams/${stream_id}/products`;
    const product = await service.studio('POST', products, PRODUCT);
    const { id: product_id } = await expectJson<{ id: string }>(product, 201);
    const { round, viewerId } = await newAskedWinner(service, stream_id);
    const { id: token_id, token } = await makeToken();
    const { id: invitation_id } = await inviteMember(service, 'host');
    const { uuid: member_id } = await newMember(service, 'owner');
    const made = await service.studio('POST', '/webhooks', EXAMPLE_BODIES.createWebhook);
    const { id: webhook_id } = await expectJson<{ id: string }>(made, 201);
    const sent = await service.studio('POST', `/webhooks/${webhook_id}/test`);
    const { id: delivery_id } = await expectJson<{ id: string }>(sent, 201);
    const ofAccount = { token_id, invitation_id, member_id, webhook_id, delivery_id };
    const addressed = operations.filter(([, { path }]) => path.includes('{'));
    expect(addressed.length).toBeGreaterThan(15);
    for (const operation of addressed) {
      const details: unknown[] = [];
      for (const ids of [
        { stream_id, quiz_id, product_id, round_id: round.id, viewer: viewerId, ...ofAccount },
        {},
        Object.fromEntries(PATH_PARAMETERS.map((name) => [name, 'nothing'])),
      ]) {
        const caller = 'stream_id' in ids && ids.stream_id !== 'nothing' ? other : service.account;
        const response = await call(service, operation, ids, `Token ${caller.token}`);
        expect(`${operation[0]} ${response.status}`).toBe(`${operation[0]} 404`);
        details.push((await expectJson<{ detail: string }>(response, 404)).detail);
      }
      // The error does not say whether another account has the object.
      expect([operation[0], details[0]]).toEqual([operation[0], details[1]]);
    }
    const stream = await expectJson(await service.studio('GET', `/streams/${stream_id}`), 200);
    expect(stream).toMatchObject({ title: 'Mine', status: 'CREATED' });
    const quiz = await expectJson(await service.studio('GET', `/quizzes/${quiz_id}`), 200);
    expect(quiz).toMatchObject({ state: 'draft', question: 'Q?' });
    const contacts = await service.studio('GET', `${round.path}/contacts`);
    expect((await expectJson<Listed>(contacts, 200)).results).toMatchObject([DETAILS]);
    const listed = await expectJson<Listed>(await service.studio('GET', products), 200);
    expect(listed.results).toEqual([{ id: product_id, ...PRODUCT, shown: false }]);
    expect((await service.studio('GET', '/account', undefined, { token })).status).toBe(200);
  });

  test('[A-1] the scheme word is matched in any case', async () => {
    for (const scheme of ['token', 'TOKEN', 'Token']) {
      const operation = ['readAccount', studioApi.readAccount] as const;
      const response = await call(service, operation, {}, `${scheme} ${service.account.token}`);
      expect(response.status).toBe(200);
    }
  });

  test('[L-8] [L-9] an account over its rate limit gets 429, another account does not', async () => {
    const rates = { ...RATES, studio: { points: 3, durationS: 60 } };
    await using limited = await startService({ config: { rates } });
    const other = await limited.createAccount();
    for (let n = 0; n < 3; n++) await limited.createStream();
    const response = await limited.studio('POST', '/streams', { title: 'One too many' });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const { uuid: producer } = limited.account;
    const page = { producer, withUnlisted: true, limit: 10, offset: 0 };
    expect((await limited.store.listStreams(page)).count).toBe(3);
    const unlimited = await limited.studio('GET', '/account', undefined, { token: other.token });
    expect(unlimited.status).toBe(200);
  });
});

describe('the account', () => {
  test('[P-5] the account has uuid, email, name and created', async () => {
    const account = await service.createAccount('ada@example.org');
    const response = await service.studio('GET', '/account', undefined, { token: account.token });
    expect(await expectJson<object>(response, 200)).toEqual({
      uuid: account.uuid,
      email: 'ada@example.org',
      name: 'A producer',
      created: service.clock.nowMs(),
    });
  });

  test('[A-9] an email has at most one account', async () => {
    await service.createAccount('once@example.org');
    const again = await service.createAccount('once@example.org').catch((error) => error);
    expect(again).toMatchObject({ name: 'DomainError', kind: 'conflict' });
  });
});

describe('service tokens', () => {
  test('[P-6] [A-5] a new token is `fb_` and 40 characters of base62, and works', async () => {
    const response = await service.studio('POST', '/api-tokens', { name: 'laptop' });
    const created = await expectJson<CreatedToken & Record<string, unknown>>(response, 201);
    expect(Object.keys(created).sort()).toEqual(
      ['created', 'id', 'lastUsed', 'name', 'prefix', 'token'].sort(),
    );
    expect(created.token).toMatch(/^fb_[0-9A-Za-z]{40}$/);
    expect(created).toMatchObject({
      name: 'laptop',
      prefix: created.token.slice(0, 8),
      created: service.clock.nowMs(),
      lastUsed: null,
    });
    const { token } = created;
    expect((await service.studio('GET', '/account', undefined, { token })).status).toBe(200);
    expect((await makeToken()).token).not.toBe(token);
  });

  test('[A-7] [P-4] [P-6] the list of service tokens is newest first and shows no token', async () => {
    const account = await service.createAccount();
    const made: CreatedToken[] = [];
    for (const name of ['first', 'second', 'third']) {
      service.pass(1);
      made.push(await makeToken(name, account));
    }
    const list = await service.studio('GET', '/api-tokens', undefined, { token: account.token });
    const { results } = await expectJson<Listed>(list, 200);
    expect(results.map(({ name }) => name)).toEqual(['third', 'second', 'first', 'test']);
    for (const listed of results) {
      expect(Object.keys(listed).sort()).toEqual(['created', 'id', 'lastUsed', 'name', 'prefix']);
    }
    const text = JSON.stringify(results);
    for (const { token } of made) expect(text).not.toContain(token);
  });

  test('[A-6] the database holds the hash of a token and never the token', async () => {
    const { token } = await makeToken();
    const files = databaseFiles(service);
    expect(files.some((text) => text.includes(hashSecret(token)))).toBe(true);
    expect(files.some((text) => text.includes(token))).toBe(false);
    expect(files.some((text) => text.includes(service.account.token))).toBe(false);
  });

  test('[A-7] lastUsed is null before the first use, and outlives a restart after it', async () => {
    const directory = join(service.directory, 'restarted');
    const before = await startService({ directory });
    const made = await before.studio('POST', '/api-tokens', { name: 'used' });
    const { token } = await expectJson<CreatedToken>(made, 201);
    await expectJson(await before.studio('POST', '/api-tokens', { name: 'unused' }), 201);
    before.pass(5_000);
    const usedMs = before.clock.nowMs();
    await before.studio('GET', '/account', undefined, { token });
    await before.close();
    const after = await startService({ directory });
    const list = await after.studio('GET', '/api-tokens', undefined, { token });
    const { results } = await expectJson<Listed>(list, 200);
    await after.close();
    const lastUsed = Object.fromEntries(results.map(({ name, lastUsed }) => [name, lastUsed]));
    expect(lastUsed).toEqual({ used: usedMs, unused: null, test: expect.any(Number) });
  });

  test('[A-8] [P-6] a revoked token is rejected at once', async () => {
    const { id, token } = await makeToken();
    expect((await service.studio('GET', '/account', undefined, { token })).status).toBe(200);
    const revoked = await service.studio('DELETE', `/api-tokens/${id}`);
    expect(revoked.status).toBe(204);
    expect(await revoked.text()).toBe('');
    expect(revoked.headers.get('content-type')).toBeNull();
    expect((await service.studio('GET', '/account', undefined, { token })).status).toBe(401);
    expect((await service.studio('DELETE', `/api-tokens/${id}`)).status).toBe(404);
    const { results } = await expectJson<Listed>(await service.studio('GET', '/api-tokens'), 200);
    expect(results.map((listed) => listed.id)).not.toContain(id);
  });

  test.each([{ name: '' }, { name: 'x'.repeat(81) }, { name: ' ' }, { name: 'a\u0007' }, {}])(
    '[A-9] [G-21] a new service token with the body %j gets 400',
    async (body) => {
      const response = await service.studio('POST', '/api-tokens', body);
      expect((await expectJson<{ detail: string }>(response, 400)).detail).toContain('name');
    },
  );

  test('[A-9] the name of a service token has up to 80 characters', async () => {
    expect((await makeToken('x'.repeat(80))).token).toStartWith('fb_');
  });

  test('[L-13] an account has at most 100 service tokens', async () => {
    const account = await service.createAccount();
    for (let n = 1; n < 100; n++) await makeToken(`token ${n}`, account);
    const body = { name: 'one too many' };
    const response = await service.studio('POST', '/api-tokens', body, { token: account.token });
    expect(response.status).toBe(409);
  });
});
