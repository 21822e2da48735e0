import { randomBase62 } from '../../platform/random-base62.ts';

const KEY_CHARS = 32;

/**
 * Creates a stream key: `sk_` and 32 base62 characters, 190 random bits (SPEC M-1).
 * @param randomBytes cryptographically secure source of `n` bytes
 */
export function newStreamKey(randomBytes: (n: number) => Uint8Array): string {
  return `sk_${randomBase62(KEY_CHARS, randomBytes)}`;
}
