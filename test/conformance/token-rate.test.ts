import { expect, test } from 'bun:test';
import { createConfig } from '../../server/platform/config.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { requestToken } from '../support/conformance/viewer-routes.ts';
import { expectJson } from '../support/harness/harness.ts';

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
