import { createHash, timingSafeEqual } from 'node:crypto';
import { randomBase62 } from '../../platform/random-base62.ts';

const SECRET_CHARS = 40;

/** Characters of a token that are kept in the clear, to recognise it in a list. */
export const PREFIX_CHARS = 8;
const FORMAT = new RegExp(`^fb_[0-9A-Za-z]{${SECRET_CHARS}}$`);

/**
 * A new service account token: `fb_` and 40 base62 characters, 238 random bits.
 * @param randomBytes source of randomness, `n` bytes at a time
 */
export function newApiToken(randomBytes: (n: number) => Uint8Array): string {
  return `fb_${randomBase62(SECRET_CHARS, randomBytes)}`;
}

/** Whether a credential has the form of a service account token at all. */
export function looksLikeApiToken(token: string): boolean {
  return FORMAT.test(token);
}

/** What the database keeps of a token: its SHA-256 in hex. */
export function hashApiToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** Compares two hashes in a time that does not tell how much of them agrees. */
export function sameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
