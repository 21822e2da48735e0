import { randomBase62 } from '../../platform/random-base62.ts';

const SECRET_CHARS = 40;
const FORM = new RegExp(`^pk_[0-9A-Za-z]{${SECRET_CHARS}}$`);

/**
 * A new presenter key: `pk_` and 40 base62 characters, 238 random bits.
 * @param randomBytes secure source, `n` bytes at a time
 */
export function newPresenterKey(randomBytes: (n: number) => Uint8Array): string {
  return `pk_${randomBase62(SECRET_CHARS, randomBytes)}`;
}

/** Whether a credential has the form of a presenter key at all. */
export function looksLikePresenterKey(key: string): boolean {
  return FORM.test(key);
}
