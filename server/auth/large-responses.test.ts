import { expect, test } from 'bun:test';
import type { RequestLog } from '../http/request-log.ts';
import { RateLimited } from '../platform/errors.ts';
import type { StudioCaller } from './credentials.ts';
import { JsonText } from './json-text.ts';
import { type AuthorizedRequest, LargeResponses } from './large-responses.ts';

test('[L-17] responses count from 64 KB of UTF-8 on, until they are read', async () => {
  const large = new LargeResponses({ requestId: () => 'request-1' } as unknown as RequestLog);
  const caller = { user: { uuid: 'account' }, actor: { kind: 'token' } } as unknown as StudioCaller;
  const respond = (json: string) => {
    const request = new Request('http://127.0.0.1/');
    return new Response(
      large.json({ request, caller } as unknown as AuthorizedRequest, new JsonText([json])),
    );
  };
  // Three bytes each.
  for (let n = 0; n < 2_000; n++) respond('答'.repeat(21_845));
  expect(() => large.check(caller)).not.toThrow();
  const json = '答'.repeat(21_846);
  const unread = Array.from({ length: 1_024 }, () => respond(json));
  expect(() => large.check(caller)).toThrow(RateLimited);
  expect(await unread[0]?.text()).toBe(json);
  expect(() => large.check(caller)).not.toThrow();
});
