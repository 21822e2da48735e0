import { beforeEach, expect, test } from 'bun:test';
import { createContactApi } from './contact-api.ts';

const STREAM = '7d2c1e6e-2a3b-4a39-9a51-0d6e2a9a7e11';
const OWN = { request: null, hasDetails: true };

let requests: string[] = [];
let tokens = 0;
/** The newest token that the service accepts. */
let validToken = 1;

beforeEach(() => {
  requests = [];
  tokens = 0;
  validToken = 1;
});

/** The requests of a viewer to a service that counts them. */
function newContactApi() {
  const fetch = async (url: string, { method = 'GET', headers }: RequestInit = {}) => {
    requests.push(`${method} ${url.split('/').at(-1)}`);
    if (url === '/api/v1/token') return Response.json({ token: `token ${++tokens}` });
    const token = new Headers(headers).get('Authorization');
    if (token !== `Bearer token ${validToken}`) return new Response(null, { status: 401 });
    return method === 'GET' ? Response.json(OWN) : new Response(null, { status: 204 });
  };
  return createContactApi({ streamId: STREAM, viewerId: 'ada', fetch });
}

test('[W-15] reads share a token', async () => {
  const contact = newContactApi();
  for (let count = 0; count < 3; count++) expect(await contact.read()).toEqual(OWN);
  expect(requests).toEqual(['POST token', ...Array(3).fill('GET winner-contact')]);
});

test('[W-14] a token that the service rejects is replaced, once', async () => {
  const contact = newContactApi();
  await contact.read();
  validToken = 2;
  await contact.erase();
  expect(requests.slice(2)).toEqual([
    ...['DELETE winner-contact', 'POST token', 'DELETE winner-contact'],
  ]);
  validToken = -1;
  await expect(contact.read()).rejects.toThrow();
  expect(tokens).toBeLessThanOrEqual(3);
});
