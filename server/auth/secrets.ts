import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { randomBase62 } from '../platform/random-base62.ts';

/** Cryptographically secure random source: returns `n` random bytes. */
export type RandomBytes = (n: number) => Uint8Array;

/** Format of keys with a prefix: the prefix and 40 base62 characters, 238 random bits. */
export interface KeyFormat {
  create(randomBytes: RandomBytes): string;
  /** Whether a text has this format. Other texts need no database lookup. */
  matches(text: string): boolean;
}

const KEY_CHARS = 40;

/** Service tokens (SPEC A-5). */
export const SERVICE_TOKEN = keyFormat('fb');
/** Presenter keys (SPEC B). */
export const PRESENTER_KEY = keyFormat('pk');

function keyFormat(prefix: string): KeyFormat {
  const pattern = new RegExp(`^${prefix}_[0-9A-Za-z]{${KEY_CHARS}}$`);
  return {
    create: (randomBytes) => `${prefix}_${randomBase62(KEY_CHARS, randomBytes)}`,
    matches: (text) => pattern.test(text),
  };
}

const SECRET_BYTES = 32;
const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/;

/** A new secret of a session cookie or of a one-time link. */
export function newSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** Whether a text has the format of `newSecret`. */
export function isSecretFormat(text: string): boolean {
  return SECRET_PATTERN.test(text);
}

/** The hash of a key or secret that the database stores: SHA-256 in hex. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * The CSRF token of a session. It is derived from the cookie's secret, so that it cannot be computed
 * from the database, which has only the secret's hash.
 */
export function csrfToken(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('csrf').digest('base64url');
}
