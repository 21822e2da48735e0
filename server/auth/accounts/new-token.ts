import type { NewToken } from './accounts-sql.ts';
import { hashApiToken, newApiToken, PREFIX_CHARS } from './api-token.ts';

/**
 * A fresh API token: the secret for its owner, shown once, and what the database keeps of it.
 * @param randomBytes secure source, `n` bytes at a time
 */
export function newToken(
  id: string,
  name: string,
  randomBytes: (n: number) => Uint8Array,
): { secret: string; stored: NewToken } {
  const secret = newApiToken(randomBytes);
  const prefix = secret.slice(0, PREFIX_CHARS);
  return { secret, stored: { id, name, prefix, hash: hashApiToken(secret) } };
}
