import { expect, test } from 'bun:test';
import { createConfig } from '../../server/platform/config.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { requestToken } from '../support/conformance/viewer-routes.ts';
import { expectJson, startService } from '../support/harness/harness.ts';

const rates = { ...createConfig().rates, tokens: { points: 2, durationS: 60 } };
const service = await serviceOfFile({ config: { tokenAuth: 'producer', rates } });

test('[L-4] [T-16] with --token-auth=producer, token requests are limited per account', async () => {
  const first = service.account;
  const second = await service.createAccount();
  const streams = new Map<string, string>();
  for (const { token } of [first, second]) {
    const made = await service.studio('POST', '/streams', { title: 'A show' }, { token });
    streams.set(token, (await expectJson<{ id: string }>(made, 201)).id);
  }
  const request = async (token: string, identifier: string) => {
    const body = { stream_id: streams.get(token), unique_user_identifier: identifier };
    return (await requestToken(service.url, body, `Token ${token}`)).status;
  };
  const statuses = [];
  for (const viewer of ['ann', 'bob', 'eve']) statuses.push(await request(first.token, viewer));
  expect(statuses).toEqual([200, 200, 429]);
  expect(await request(second.token, 'ann')).toBe(200);
});

test('[L-4] [L-5] [T-16] with open access, a credential neither lifts the limit of an address nor counts as a failed authentication', async () => {
  const failedAuth = { points: 1, durationS: 60 };
  await using open = await startService({ config: { rates: { ...rates, failedAuth } } });
  const stream = await open.createStream();
  const { token } = await open.createAccount();
  const statuses = [];
  for (const credential of [
    'Bearer x',
    'Token fb_x',
    `Token ${token}`,
    `Token ${open.account.token}`,
  ]) {
    const body = { stream_id: stream, unique_user_identifier: 'ann' };
    statuses.push((await requestToken(open.url, body, credential)).status);
  }
  expect(statuses).toEqual([200, 200, 429, 429]);
  const failed = { headers: { Authorization: 'Token fb_x' } };
  expect((await fetch(`${open.url}/api/v1/users/me`, failed)).status).toBe(401);
});
