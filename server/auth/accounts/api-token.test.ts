import { describe, expect, test } from 'bun:test';
import { hashApiToken, looksLikeApiToken, newApiToken, sameHash } from './api-token.ts';

const random = (n: number) => crypto.getRandomValues(new Uint8Array(n));

describe('API tokens', () => {
  test('[A-5] a token is fb_ and 40 characters of base62', () => {
    const tokens = Array.from({ length: 200 }, () => newApiToken(random));
    for (const token of tokens) expect(token).toMatch(/^fb_[0-9A-Za-z]{40}$/);
    expect(new Set(tokens).size).toBe(200);
  });

  test('[A-5] every character is as likely as any other: bytes over 247 are not used', () => {
    let calls = 0;
    const token = newApiToken((n) => new Uint8Array(n).fill(calls++ === 0 ? 248 : 61));
    expect(token).toBe(`fb_${'z'.repeat(40)}`);
  });

  test('[A-6] what is kept is its SHA-256, compared as a whole', () => {
    const hash = hashApiToken('fb_abc');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(sameHash(hash, hashApiToken('fb_abc'))).toBe(true);
    expect(sameHash(hash, hashApiToken('fb_abd'))).toBe(false);
    expect(sameHash(hash, '')).toBe(false);
  });

  test('[A-3] what has not the form of a token is not looked up', () => {
    expect(looksLikeApiToken(newApiToken(random))).toBe(true);
    for (const wrong of ['', 'fb_', 'fb_short', `xx_${'a'.repeat(40)}`, `fb_${'a'.repeat(41)}`]) {
      expect(looksLikeApiToken(wrong)).toBe(false);
    }
  });
});
