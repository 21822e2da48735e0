import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';
import {
  KEY_LIFETIME_MS,
  PUBLISH_AHEAD_MS,
  planRotation,
  publishedKeys,
  rotationIsDue,
  type SigningKey,
  signingKeyAt,
} from './signing-keys.ts';

const offered = (kid: string) => ({ kid, privateJwk: '{}' });
const rotate = (keys: readonly SigningKey[], kid: string, nowMs: number, force = false) =>
  planRotation(keys, offered(kid), nowMs, force).retained;

describe('rotation of signing keys', () => {
  test('the first key signs at once', () => {
    const keys = rotate([], 'a', 1_000);
    expect(signingKeyAt(keys, 1_000)?.kid).toBe('a');
  });

  test('[T-15] a new key is published 11 minutes before it signs', () => {
    const keys = rotate(rotate([], 'a', 0), 'b', 5_000, true);
    expect(publishedKeys(keys, 5_000).map(({ kid }) => kid)).toEqual(['a', 'b']);
    expect(signingKeyAt(keys, 5_000 + PUBLISH_AHEAD_MS - 1)?.kid).toBe('a');
    expect(signingKeyAt(keys, 5_000 + PUBLISH_AHEAD_MS)?.kid).toBe('b');
  });

  test('[T-15] the old key stays published until 11 minutes after its last signature', () => {
    const keys = rotate(rotate([], 'a', 0), 'b', 0, true);
    const lastSignedMs = PUBLISH_AHEAD_MS - 1;
    const retiresMs = PUBLISH_AHEAD_MS + 11 * 60_000;
    expect(publishedKeys(keys, retiresMs - 1).map(({ kid }) => kid)).toContain('a');
    expect(publishedKeys(keys, retiresMs).map(({ kid }) => kid)).toEqual(['b']);
    expect(retiresMs).toBeGreaterThan(lastSignedMs + TOKEN_LIFETIME_S * 1000);
  });

  test('[T-15] a key signs for 30 days, and a repeated rotation has no effect', () => {
    const first = rotate([], 'a', 0);
    expect(rotationIsDue(first, KEY_LIFETIME_MS - PUBLISH_AHEAD_MS - 1, false)).toBe(false);
    const dueMs = KEY_LIFETIME_MS - PUBLISH_AHEAD_MS;
    const second = rotate(first, 'b', dueMs);
    expect(signingKeyAt(second, KEY_LIFETIME_MS)?.kid).toBe('b');
    expect(rotate(second, 'c', dueMs + 1, true)).toEqual(second);
  });

  test('[T-15] after any sequence of rotations every valid token can be verified', () => {
    const steps = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: KEY_LIFETIME_MS }), force: fc.boolean() }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(steps, (moves) => {
        let keys: SigningKey[] = [];
        let nowMs = 0;
        const tokens: { kid: string; expiresMs: number }[] = [];
        for (const [index, { afterMs, force }] of moves.entries()) {
          nowMs += afterMs;
          keys = rotate(keys, `k${index}`, nowMs, force);
          const signer = signingKeyAt(keys, nowMs);
          expect(signer).toBeDefined();
          if (signer) tokens.push({ kid: signer.kid, expiresMs: nowMs + TOKEN_LIFETIME_S * 1000 });
          const published = publishedKeys(keys, nowMs).map(({ kid }) => kid);
          const live = tokens.filter(({ expiresMs }) => expiresMs > nowMs);
          for (const { kid } of live) expect(published).toContain(kid);
        }
      }),
    );
  });
});
