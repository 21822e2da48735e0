import { describe, expect, test } from 'bun:test';
import { createHmac, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import { newServiceToken } from '../../server/auth/accounts/service-tokens.ts';
import {
  expectMembers,
  expectNoContent,
  expectProblem,
  expectUnauthorized,
} from '../support/conformance/expectations.ts';
import { partsOf } from '../support/conformance/forged-tokens.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rawExchange, rawHead } from '../support/conformance/raw-http.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { requestToken, VIEWER_ROUTES } from '../support/conformance/viewer-routes.ts';
import { expectJson, startService, viewerWith } from '../support/harness/harness.ts';

const harness = await serviceOfFile();
const stream = await harness.createStream();
await harness.advance(1);

const request = (body: unknown, authorization?: string) =>
  requestToken(harness.url, body, authorization);
const tokenRequest = (unique_user_identifier: unknown, stream_id: unknown = stream) => ({
  stream_id,
  unique_user_identifier,
});
const tokenOf = async (identifier: string, streamId = stream) =>
  (await expectJson<{ token: string }>(await request(tokenRequest(identifier, streamId)), 200))
    .token;
const count = (token: string, streamId = stream) =>
  viewerWith(harness.url, streamId, token).get(`/api/v1/view-counts/${streamId}`);

describe('POST /api/v1/token', () => {
  test('[T-1] token creation returns 200 with exactly token', async () => {
    const body = await expectJson<{ token: string }>(await request(tokenRequest('user-42')), 200);
    expectMembers(body, ['token']);
    expect(body.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('[T-2] token creation returns 400 for a stream_id that is not a uuid and 404 for an unknown stream', async () => {
    for (const id of ['', 'x', stream.slice(1), `${stream}0`, 7, null, {}, [stream]]) {
      const { detail } = await expectProblem(await request(tokenRequest('a', id)), 400);
      expect(detail).toContain('stream_id');
    }
    await expectProblem(await request(tokenRequest('a', crypto.randomUUID())), 404);
    expect(decodeJwt(await tokenOf('a', stream.toUpperCase())).stream_id).toBe(stream);
  });

  test('[T-3] [G-22] token creation accepts an identifier of 1 to 256 characters and returns 400 for any other', async () => {
    for (const good of ['a', 'ü'.repeat(256), '😀'.repeat(256), ' a ', 'null', '0', "'; --"]) {
      expect((await request(tokenRequest(good))).status).toBe(200);
    }
    for (const bad of ['', 'x'.repeat(257), '😀'.repeat(257), 1, true, null, ['a'], { a: 1 }]) {
      const { detail } = await expectProblem(await request(tokenRequest(bad)), 400);
      expect(detail).toContain('unique_user_identifier');
    }
  });

  test('[T-4] a viewer token is a JWT signed with EdDSA over Ed25519, with alg and kid', async () => {
    const token = await tokenOf('signed');
    const header = decodeProtectedHeader(token);
    expect(header.alg).toBe('EdDSA');
    expect(header.kid).toBeString();
    const keys = createRemoteJWKSet(new URL(`${harness.url}/.well-known/jwks.json`));
    const currentDate = new Date(harness.clock.nowMs());
    const { payload } = await jwtVerify(token, keys, { algorithms: ['EdDSA'], currentDate });
    expect(payload.stream_id).toBe(stream);
  });

  test('[T-5] [T-6] a viewer token has exactly the claims iss, aud, sub, stream_id, seat, iat, exp', async () => {
    const claims = decodeJwt(await tokenOf('claims'));
    expectMembers(claims, ['iss', 'aud', 'sub', 'stream_id', 'seat', 'iat', 'exp']);
    const iat = Math.floor(harness.clock.nowMs() / 1000);
    expect(claims).toMatchObject({ aud: 'fourbeat', stream_id: stream, iat, exp: iat + 600 });
    expect(URL.canParse(claims.iss ?? '')).toBe(true);
    expect(claims.seat).toBeInteger();
  });

  test('[T-5] iss is the configured public URL', async () => {
    const publicUrl = 'https://show.example.org';
    await using other = await startService({ config: { publicUrl } });
    const viewer = await other.viewer(await other.createStream());
    expect(decodeJwt(viewer.token).iss).toBe(publicUrl);
  });

  test('[T-7] sub is 22 characters of an HMAC of stream and identifier', async () => {
    const secret = await harness.store.keepSecret({ name: 'viewer', offered: 'unused' });
    const { sub } = decodeJwt(await tokenOf('ada@example.org'));
    const hmac = createHmac('sha256', secret).update(`${stream}\0ada@example.org`);
    expect(sub).toBe(hmac.digest('base64url').slice(0, 22));
    const elsewhere = await harness.createStream();
    expect(decodeJwt(await tokenOf('ada@example.org', elsewhere)).sub).not.toBe(sub);
  });

  test('[T-7] the identifier is neither in the token nor in the database', async () => {
    const identifier = 'very-private-identifier';
    const token = await tokenOf(identifier);
    expect(Buffer.from(partsOf(token)[1], 'base64url').toString()).not.toContain(identifier);
    for (const file of readdirSync(harness.directory)) {
      expect(readFileSync(join(harness.directory, file)).includes(identifier)).toBe(false);
    }
  });

  test('[T-8] seats count from 0; the same identifier keeps its seat and sub', async () => {
    const fresh = await harness.createStream();
    const claims = async (identifier: string) => decodeJwt(await tokenOf(identifier, fresh));
    const first = await claims('a');
    const second = await claims('b');
    expect([first.seat, second.seat]).toEqual([0, 1]);
    await harness.advance(8);
    const again = await claims('a');
    expect(again).toMatchObject({ seat: 0, sub: first.sub });
    expect(again.iat).toBeGreaterThan(first.iat ?? 0);
    expect((await claims('c')).seat).toBe(2);
  });

  test('[T-9] no seat is assigned twice under simultaneous requests', async () => {
    const fresh = await harness.createStream();
    const asked = Array.from({ length: 60 }, (_, i) => tokenOf(`viewer-${i % 30}`, fresh));
    const claims = (await Promise.all(asked)).map((token) => decodeJwt(token));
    const seats = new Map(claims.map(({ sub, seat }) => [sub, seat]));
    expect([...seats.values()].sort((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 30 }, (_, seat) => seat),
    );
    for (const { sub, seat } of claims) expect(seats.get(sub)).toBe(seat);
  });
});

describe('a viewer token', () => {
  test('[T-6] a viewer token is valid until exp, exclusive', async () => {
    const token = await tokenOf('expiring');
    const other = await tokenOf('expiring, never used before');
    const { exp = 0 } = decodeJwt(token);
    expect((await count(token)).status).toBe(200);
    const start = harness.interval();
    await harness.advance(exp * 4 - 1 - start);
    expect((await count(token)).status).toBe(200);
    await harness.advance(1);
    expect(harness.clock.nowMs()).toBe(exp * 1000);
    await expectUnauthorized(await count(token), 'Bearer');
    await expectUnauthorized(await count(other), 'Bearer');
    expect((await count(await tokenOf('expiring'))).status).toBe(200);
  });

  test('[T-10] a viewer token is accepted only in the Authorization header', async () => {
    const token = await tokenOf('header');
    const url = `${harness.url}/api/v1/view-counts/${stream}`;
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const response = await fetch(url, { headers: { Authorization: `${scheme} ${token}` } });
      expect(response.status).toBe(200);
    }
    const elsewhere: [string, Record<string, string>][] = [
      [`${url}?access_token=${token}`, {}],
      [`${url}?token=${token}&authorization=Bearer%20${token}`, {}],
      [url, { Cookie: `token=${token}` }],
      [url, { 'X-Authorization': `Bearer ${token}` }],
      [url, { 'Proxy-Authorization': `Bearer ${token}` }],
      [url, { Authorization: token }],
      [url, { Authorization: `JWT ${token}` }],
    ];
    for (const [address, headers] of elsewhere) {
      await expectUnauthorized(await fetch(address, { headers }), 'Bearer');
    }
  });

  test.each(VIEWER_ROUTES)(
    '[T-11] [G-16] %s without a viewer token returns 401',
    async (_, call) => {
      const bare = viewerWith(harness.url, stream, '');
      await expectUnauthorized(await call(bare), 'Bearer');
      const service = viewerWith(harness.url, stream, harness.account.token);
      await expectUnauthorized(await call(service), 'Bearer');
      const asService = viewerWith(harness.url, stream, harness.account.token, 'Token');
      await expectUnauthorized(await call(asService), 'Bearer');
    },
  );

  test.each(VIEWER_ROUTES)(
    '[T-13] %s with a viewer token of another stream returns 401',
    async (_, call) => {
      const { token } = await harness.viewer(await harness.createStream());
      await expectUnauthorized(await call(viewerWith(harness.url, stream, token)), 'Bearer');
      const nowhere = crypto.randomUUID();
      await expectUnauthorized(await call(viewerWith(harness.url, nowhere, token)), 'Bearer');
    },
  );
});

describe('keys', () => {
  const jwks = async (service = harness) => {
    const response = await fetch(`${service.url}/.well-known/jwks.json`);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    return (await expectJson<{ keys: JWK[] }>(response, 200)).keys;
  };

  test('[T-14] the key set is public and has every key without its private part', async () => {
    const keys = await jwks();
    expect(keys).toHaveLength(1);
    for (const key of keys) {
      expectMembers(key, ['kty', 'crv', 'kid', 'alg', 'use', 'x']);
      expect(key).toMatchObject({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' });
    }
    expect(keys[0]?.kid).toBe(decodeProtectedHeader(await tokenOf('k')).kid ?? '');
  });
});

describe('open access', () => {
  test('[T-16] token creation ignores an invalid, expired or foreign credential', async () => {
    await using open = await startService({ config: { rates: HIGH_RATES } });
    const id = await open.createStream();
    const other = await open.viewer(await open.createStream());
    const expired = await open.viewer(id);
    open.pass(600_000);
    await expectUnauthorized(await expired.get(`/api/v1/view-counts/${id}`), 'Bearer');
    const foreign = await open.createAccount();
    for (const credential of [
      `Bearer ${expired.token}`,
      `Bearer ${other.token}`,
      'Bearer x',
      'Token fb_x',
      `Token fb_${'a'.repeat(40)}`,
      `Token ${foreign.token}`,
      'x',
    ]) {
      const response = await requestToken(open.url, tokenRequest('a', id), credential);
      const { token } = await expectJson<{ token: string }>(response, 200);
      await expectNoContent(
        await viewerWith(open.url, id, token).post(`/api/v1/view-counts/${id}`),
      );
    }
  });

  test('[T-16] token creation looks up no service token in the database', async () => {
    let lookups = 0;
    await using open = await startService({
      store: (store) => ({
        ...store,
        findUnseenTokenOwner: (input) => {
          lookups += 1;
          return store.findUnseenTokenOwner(input);
        },
      }),
    });
    const id = await open.createStream();
    const unknown = newServiceToken('id', 'test', randomBytes).secret;
    const body = tokenRequest('a', id);
    expect((await requestToken(open.url, body, `Token ${unknown}`)).status).toBe(200);
    // The one of `createStream`.
    expect(lookups).toBe(1);
  });
});

describe('--token-auth=producer', () => {
  test("[T-16] with --token-auth=producer, token creation needs the service token of the stream's owner", async () => {
    await using closed = await startService({
      config: { tokenAuth: 'producer', rates: HIGH_RATES },
    });
    const id = await closed.createStream();
    const stranger = await closed.createAccount();
    const requestAs = (authorization?: string, streamId = id) =>
      requestToken(closed.url, tokenRequest('a', streamId), authorization);
    const owner = `Token ${closed.account.token}`;
    const { token } = await expectJson<{ token: string }>(await requestAs(owner), 200);
    await expectUnauthorized(await requestAs(), 'Token');
    await expectUnauthorized(await requestAs(`Token ${stranger.token}`), 'Token');
    await expectUnauthorized(await requestAs(`Bearer ${token}`), 'Token');
    await expectProblem(await requestAs(owner, crypto.randomUUID()), 404);
    // G-17: without the credential the body is not checked.
    await expectUnauthorized(await requestToken(closed.url, { wrong: 1 }), 'Token');
    await expectProblem(await requestToken(closed.url, { wrong: 1 }, owner), 400);
    const viewer = viewerWith(closed.url, id, token);
    await expectNoContent(await viewer.post(`/api/v1/view-counts/${id}`));
  });

  test('[A-8] a service token that is revoked before the body arrives creates no viewer token', async () => {
    await using closed = await startService({
      config: { tokenAuth: 'producer', rates: HIGH_RATES },
    });
    const stream_id = await closed.createStream();
    const { id, token } = await expectJson<{ id: string; token: string }>(
      await closed.studio('POST', '/api-tokens', { name: 'a program' }),
      201,
    );
    const body = JSON.stringify({ stream_id, unique_user_identifier: 'a' });
    const head = rawHead('POST /api/v1/token', {
      Authorization: `Token ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': `${body.length}`,
    });
    const answer = rawExchange(closed.url, [head, body.slice(0, 1), 300, body.slice(1)]);
    await Bun.sleep(100);
    await expectNoContent(await closed.studio('DELETE', `/api-tokens/${id}`));
    expect((await answer).status).toBe(401);
  });
});
