import { expect, test } from 'bun:test';
import { ResponseBytes } from './response-bytes.ts';

test('viewers share the response of an interval for a second, and nothing holds it longer', () => {
  const options = { corsOrigin: '*', edgeCache: false, allow: 'GET, HEAD, OPTIONS' };
  const responses = new ResponseBytes(options);
  const body = Buffer.from('{"interval":7,"events":[]}');
  const first = responses.sealed(7, body);
  expect(responses.sealed(7, body)).toBe(first);
  responses.refreshDate();
  expect(responses.sealed(7, body)).not.toBe(first);
  expect(first.toString()).toEndWith(`\r\n\r\n${body}`);
});
