import { expect, spyOn, test } from 'bun:test';
import { Keyring } from './keyring.ts';
import { planRotation, type SigningKey } from './signing-keys.ts';
import { ViewerTokens } from './viewer-tokens.ts';

const STREAM = '6f1c6f0e-7a0e-4c55-9a50-0d7b0d7c3a11';

async function setUp() {
  const clock = { ms: 1_750_000_000_000, nowMs: () => clock.ms };
  let keys: SigningKey[] = [];
  const keyring = new Keyring({
    listSigningKeys: async () => keys,
    rotateSigningKeys: async ({ offered, nowMs, force }) => {
      keys = planRotation(keys, offered, nowMs, force).retained;
      return keys;
    },
  });
  await keyring.refresh(clock.ms);
  let seats = 0;
  const newTokens = () =>
    new ViewerTokens({
      store: {
        findSeats: async (viewers) => viewers.map(() => null),
        leaseSeats: async ({ count }) => {
          seats += count;
          return { first: seats - count, count };
        },
        takeSeats: async (offers) => offers.map(({ seat }) => seat),
      },
      keyring,
      clock,
      issuer: 'http://localhost:4250',
      viewerSecret: 'secret',
      cacheSize: 1_000,
      bans: { isBanned: () => false },
    });
  return { clock, keyring, tokens: newTokens(), newTokens };
}

test('[T-6] removeExpired removes only expired tokens', async () => {
  const { clock, tokens } = await setUp();
  for (let n = 0; n < 20; n++) await tokens.check(await tokens.issue(STREAM, `early ${n}`));
  clock.ms += 400_000;
  const late = await tokens.issue(STREAM, 'late');
  await tokens.check(late);
  tokens.cache.removeExpired();
  expect(tokens.cache.size).toBe(21);
  clock.ms += 200_000;
  tokens.cache.removeExpired();
  expect(tokens.cache.size).toBe(1);
  expect(tokens.cache.getValid(late)?.streamId).toBe(STREAM);
});

test('[T-6] [T-12] an issued token is cached with the viewer that verification would return', async () => {
  const { clock, tokens, newTokens } = await setUp();
  const token = await tokens.issue(STREAM, 'ann');
  const cached = tokens.cache.getValid(token);
  expect(cached).not.toBeNull();
  const verified = await newTokens().check(token);
  for (const name of ['id', 'streamId', 'seat', 'expiresMs', 'token'] as const) {
    expect(cached?.[name]).toEqual(verified?.[name] as string);
  }
  clock.ms += 600_000;
  expect(tokens.cache.getValid(token)).toBeNull();
  const expired = await tokens.check(token);
  expect(expired && tokens.admission(expired, STREAM)).toBe('expired');
});

test('[T-12] an invalid token is not cached', async () => {
  const { tokens, newTokens } = await setUp();
  const token = await newTokens().issue(STREAM, 'ann');
  expect(await tokens.check(`${token.slice(0, -4)}AAAA`)).toBeNull();
  expect(await tokens.check('no.such.token')).toBeNull();
  expect(tokens.cache.size).toBe(0);
});

test('[T-12] a recently forged token is not verified again', async () => {
  const { keyring, tokens, newTokens } = await setUp();
  const verified = spyOn(keyring, 'verificationKey');
  const [head, payload] = (await newTokens().issue(STREAM, 'ann')).split('.');
  const forged = (n: number) => `${head}.${payload}.${n.toString().padStart(85, 'A')}A`;
  for (let n = 0; n < 3; n++) expect(await tokens.check(forged(0))).toBeNull();
  expect(verified).toHaveBeenCalledTimes(1);
  // As many forged tokens as the cache holds evict the first one.
  for (let n = 1; n <= 1_024; n++) await tokens.check(forged(n));
  await tokens.check(forged(0));
  expect(verified).toHaveBeenCalledTimes(1_026);
});

test('[T-12] [N-8] a token rejected as expired is valid again after the clock is corrected backwards', async () => {
  const { clock, tokens, newTokens } = await setUp();
  const token = await newTokens().issue(STREAM, 'ann');
  clock.ms += 600_000;
  const admission = async () => {
    const viewer = await tokens.check(token);
    return viewer && tokens.admission(viewer, STREAM);
  };
  expect(await admission()).toBe('expired');
  clock.ms -= 600_000;
  expect(await admission()).toBe('admitted');
});

test('[T-12] [T-15] a token of an unknown key is valid once the key is known', async () => {
  const { keyring, tokens, newTokens } = await setUp();
  const token = await newTokens().issue(STREAM, 'ann');
  const verified = spyOn(keyring, 'verificationKey').mockReturnValue(undefined);
  expect(await tokens.check(token)).toBeNull();
  verified.mockRestore();
  expect(await tokens.check(token)).toMatchObject({ streamId: STREAM });
});

test('[T-12] the header of a token that this service did not issue is not parsed', async () => {
  const { tokens } = await setUp();
  const parsed = spyOn(JSON, 'parse');
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = encode({ alg: 'EdDSA', typ: 'JWT', kid: 'unknown', a: [{ 999: 0, 1003: 0 }] });
  expect(await tokens.check(`${header}.${encode({})}.${'A'.repeat(86)}`)).toBeNull();
  expect(parsed).not.toHaveBeenCalled();
  parsed.mockRestore();
});

test('[T-12] only one spelling of a signature is valid', async () => {
  const { tokens, newTokens } = await setUp();
  const token = await tokens.issue(STREAM, 'ann');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const start = token.slice(0, -1);
  const bits = alphabet.indexOf(token.slice(-1)) & 0b11_0000;
  // The decoder ignores the last four bits.
  const spellings = [...alphabet].filter((_, index) => (index & 0b11_0000) === bits);
  expect(spellings).toHaveLength(16);
  const verified: string[] = [];
  for (const last of spellings)
    if (await newTokens().check(start + last)) verified.push(start + last);
  for (const end of ['=', '==', '.', '\n']) {
    expect(await newTokens().check(token + end)).toBeNull();
  }
  expect(verified).toEqual([token]);
});
