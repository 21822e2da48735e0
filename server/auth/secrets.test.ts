import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../platform/errors.ts';
import { ServiceTokens } from './accounts/service-tokens.ts';
import { hashSecret, SERVICE_TOKEN, sameHash } from './secrets.ts';

const random = (n: number) => crypto.getRandomValues(new Uint8Array(n));

describe('service tokens', () => {
  test('[A-5] a service token is fb_ and 40 base62 characters', () => {
    const tokens = Array.from({ length: 200 }, () => SERVICE_TOKEN.create(random));
    for (const token of tokens) expect(token).toMatch(/^fb_[0-9A-Za-z]{40}$/);
    expect(new Set(tokens).size).toBe(200);
  });

  test('[A-5] service token characters are uniformly distributed: bytes over 247 are skipped', () => {
    let calls = 0;
    const token = SERVICE_TOKEN.create((n) => new Uint8Array(n).fill(calls++ === 0 ? 248 : 61));
    expect(token).toBe(`fb_${'z'.repeat(40)}`);
  });

  test('[A-7] a last use whose write failed is written by the next call', async () => {
    const token = SERVICE_TOKEN.create(random);
    const user = { uuid: 'account', email: 'a@example.org', name: 'A', created: 0 };
    const writes: unknown[] = [];
    let isAvailable = false;
    const tokens = new ServiceTokens(
      {
        findTokenOwner: async ({ hash }) => ({ user, tokenId: 'id', hash }),
        findUnseenTokenOwner: async ({ hash }) => ({ user, tokenId: 'id', hash }),
        recordServiceTokenUses: async ({ uses }) => {
          if (!isAvailable) throw new Unavailable('The database is unavailable.');
          writes.push(...uses);
        },
      },
      { nowMs: () => 1_000 },
    );
    await tokens.findOwner(token);
    await expect(tokens.recordUses()).rejects.toThrow(Unavailable);
    isAvailable = true;
    await tokens.recordUses();
    expect(writes).toEqual([['id', 1_000]]);
  });

  test('a token that was valid before does not take turns with unknown ones', async () => {
    const token = SERVICE_TOKEN.create(random);
    const user = { uuid: 'account', email: 'a@example.org', name: 'A', created: 0 };
    const calls: string[] = [];
    const owner = ({ hash }: { hash: string }) =>
      hash === hashSecret(token) ? { user, tokenId: 'id', hash } : null;
    const tokens = new ServiceTokens(
      {
        findTokenOwner: async (input) => {
          calls.push('seen');
          return owner(input);
        },
        findUnseenTokenOwner: async (input) => {
          calls.push('unseen');
          return owner(input);
        },
        recordServiceTokenUses: async () => {},
      },
      { nowMs: () => 1_000 },
    );
    const unknown = SERVICE_TOKEN.create(random);
    for (const sent of [token, token, unknown, unknown]) await tokens.findOwner(sent);
    expect(calls).toEqual(['unseen', 'seen', 'unseen', 'unseen']);
  });

  test('[A-6] the stored hash of a token is its SHA-256, compared as a whole', () => {
    const hash = hashSecret('fb_abc');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(sameHash(hash, hashSecret('fb_abc'))).toBe(true);
    expect(sameHash(hash, hashSecret('fb_abd'))).toBe(false);
    expect(sameHash(hash, '')).toBe(false);
  });

  test('[A-3] a text without the format of a service token does not match', () => {
    expect(SERVICE_TOKEN.matches(SERVICE_TOKEN.create(random))).toBe(true);
    for (const wrong of ['', 'fb_', 'fb_short', `xx_${'a'.repeat(40)}`, `fb_${'a'.repeat(41)}`]) {
      expect(SERVICE_TOKEN.matches(wrong)).toBe(false);
    }
  });
});
