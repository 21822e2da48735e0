import { expect, test } from 'bun:test';
import type { StreamPage } from '../../protocol/streams.ts';
import { expectNoContent, expectUnauthorized } from '../support/conformance/expectations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const harness = await serviceOfFile();

const me = (authorization?: string) =>
  fetch(`${harness.url}/api/v1/users/me`, {
    headers: authorization ? { Authorization: authorization } : {},
  });

test('[A-2] users/me returns 200 with uuid, email, name and created for a service token', async () => {
  const email = 'host@example.org';
  const account = await harness.createAccount(email);
  const user = await expectJson<Record<string, unknown>>(await me(`Token ${account.token}`), 200);
  expect(user).toEqual({
    uuid: account.uuid,
    email,
    name: 'A producer',
    created: harness.clock.nowMs(),
  });
});

test('[A-1] the scheme word is matched in any case', async () => {
  for (const scheme of ['Token', 'token', 'TOKEN', 'tOKEN']) {
    expect((await me(`${scheme} ${harness.account.token}`)).status).toBe(200);
  }
});

test('[A-3] users/me returns 401 without a token, or with an unknown or malformed one', async () => {
  const { token } = harness.account;
  const wrong = [
    undefined,
    'Token',
    'Token ',
    token,
    `Bearer ${token}`,
    `Basic ${btoa(`x:${token}`)}`,
    `Token ${token}x`,
    `Token ${token.slice(0, -1)}`,
    `Token fb_${'a'.repeat(40)}`,
    `Token ${token} ${token}`,
    `Token "${token}"`,
    `Token ${token.toUpperCase()}`,
    `Token ${'x'.repeat(8_000)}`,
  ];
  for (const authorization of wrong) await expectUnauthorized(await me(authorization), 'Token');
});

test('[A-3] users/me returns 401 with a viewer token and with a revoked token', async () => {
  const viewer = await harness.viewer(await harness.createStream());
  await expectUnauthorized(await me(`Bearer ${viewer.token}`), 'Token');
  await expectUnauthorized(await me(`Token ${viewer.token}`), 'Token');
  const made = await harness.studio('POST', '/api-tokens', { name: 'lost' });
  const { id, token } = await expectJson<{ id: string; token: string }>(made, 201);
  expect((await me(`Token ${token}`)).status).toBe(200);
  await expectNoContent(await harness.studio('DELETE', `/api-tokens/${id}`));
  await expectUnauthorized(await me(`Token ${token}`), 'Token');
});

test('[A-4] the account uuid is the producer of its streams and never changes', async () => {
  const account = await harness.createAccount();
  const stream = await harness.studio('POST', '/streams', { title: 'A' }, account);
  const { id } = await expectJson<{ id: string }>(stream, 201);
  const { uuid } = await expectJson<{ uuid: string }>(await me(`Token ${account.token}`), 200);
  const list = await fetch(`${harness.url}/api/v1/streams/?producer=${uuid}`);
  const { results } = await expectJson<StreamPage>(list, 200);
  expect(results.map(({ id, producer }) => [id, producer])).toEqual([[id, uuid]]);
  await harness.advance(1);
  const again = await expectJson<{ uuid: string }>(await me(`Token ${account.token}`), 200);
  expect(again.uuid).toBe(uuid);
});
