import { expect, test } from 'bun:test';
import { decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { expectUnauthorized } from '../support/conformance/expectations.ts';
import {
  claimsWith,
  partsOf,
  signedByServiceKey,
  signedByUnknownKey,
  signedWithPublicKey,
  unsigned,
  withEmbeddedKey,
  withPastedSignature,
} from '../support/conformance/forged-tokens.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { VIEWER_ROUTES } from '../support/conformance/viewer-routes.ts';
import { expectJson, viewerWith } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
const stream = await harness.createStream();
const good = (await harness.viewer(stream)).token;
const kid = decodeProtectedHeader(good).kid ?? '';
const keys = await harness.store.listSigningKeys({});
const privateJwk = keys.find((key) => key.kid === kid)?.privateJwk ?? '';

const count = (token: string, streamId = stream) =>
  viewerWith(harness.url, streamId, token).get(`/api/v1/view-counts/${streamId}`);
// The valid token is now in the token cache.
expect((await count(good)).status).toBe(200);
const expect401 = async (token: string) => {
  for (const [, call] of VIEWER_ROUTES) {
    await expectUnauthorized(await call(viewerWith(harness.url, stream, token)), 'Bearer');
  }
  expect((await count(good)).status).toBe(200);
};

test('[T-12] an unsigned token returns 401', async () => {
  await expect401(unsigned(good));
  await expect401(unsigned(good, partsOf(good)[2]));
  await expect401(`${partsOf(good)[0]}.${partsOf(good)[1]}.`);
  await expect401(`${partsOf(good)[0]}.${partsOf(good)[1]}`);
});

test('[T-12] a token signed with HS256 and the public key in any encoding returns 401', async () => {
  const response = await fetch(`${harness.url}/.well-known/jwks.json`);
  const { keys } = await expectJson<{ keys: JWK[] }>(response, 200);
  const jwk = keys.find((key) => key.kid === kid);
  const x = jwk?.x ?? '';
  for (const secret of [x, Buffer.from(x, 'base64url'), JSON.stringify(jwk)]) {
    await expect401(await signedWithPublicKey(good, secret));
  }
});

test('[T-12] a token with an unknown kid, or with a known kid but another signing key, returns 401', async () => {
  await expect401(await signedByUnknownKey(good, crypto.randomUUID()));
  await expect401(await signedByUnknownKey(good, kid));
  await expect401(await signedByUnknownKey(good, ''));
  await expect401(await signedByUnknownKey(good, '../../etc/passwd'));
  await expect401(withEmbeddedKey(good));
});

test('[T-12] a token signed with a key of the service under an unknown kid returns 401', async () => {
  await expect401(await signedByServiceKey(privateJwk, crypto.randomUUID(), claimsWith(good, {})));
});

test('[T-12] a token with a changed payload returns 401, also when its signature is cached', async () => {
  const { exp = 0 } = decodeJwt(good);
  const changes = [{ seat: 5 }, { exp: exp + 1 }, { sub: 'x' }, { extra: 1 }];
  for (const change of changes) await expect401(withPastedSignature(good, change));
  const other = await harness.createStream();
  const forOther = withPastedSignature(good, { stream_id: other });
  await expectUnauthorized(await count(forOther, other), 'Bearer');
  const [header, payload, signature] = partsOf(good);
  const turned = signature.startsWith('A') ? 'B' : 'A';
  await expect401(`${header}.${payload}.${turned}${signature.slice(1)}`);
  await expect401(`${header}.${payload}.${signature}.${signature}`);
});

test('[T-12] a token with another iss or aud, a missing or impossible claim or a past exp returns 401', async () => {
  const { iat = 0 } = decodeJwt(good);
  const wrong = [
    { iss: 'https://elsewhere.example' },
    { iss: undefined },
    { aud: 'elsewhere' },
    { aud: undefined },
    { exp: iat },
    { exp: undefined },
    { stream_id: undefined },
    { stream_id: null },
    { seat: undefined },
    { seat: -1 },
    { seat: '0' },
    { seat: 0.5 },
    { seat: 2 ** 24 },
    { seat: 2 ** 32 },
    { sub: undefined },
  ];
  for (const change of wrong) {
    await expect401(await signedByServiceKey(privateJwk, kid, claimsWith(good, change)));
  }
  const control = await signedByServiceKey(privateJwk, kid, claimsWith(good, {}));
  expect((await count(control)).status).toBe(200);
});

test('[T-12] a token that is not a JWT returns 401', async () => {
  const b64 = (text: string) => Buffer.from(text).toString('base64url');
  const notTokens = [
    'x',
    '..',
    'a.b.c',
    `${b64('{}')}.${b64('{}')}.`,
    `${b64('null')}.${b64('null')}.${b64('x')}`,
    `${b64('{"alg":"EdDSA","kid":{}}')}.${b64('{}')}.AA`,
    `${b64('{"alg":"EdDSA","kid":"__proto__"}')}.${b64('{}')}.AA`,
    `${partsOf(good)[0]}.${b64('[]')}.${partsOf(good)[2]}`,
    good.replaceAll('.', ','),
    `${good}=`,
    good.repeat(2),
    'x'.repeat(10_000),
    stream,
  ];
  for (const token of notTokens) await expect401(token);
});
