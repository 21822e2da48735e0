import { createHash, createHmac } from 'node:crypto';

const SECRET_BYTES = 32;
const FORMAT = /^[A-Za-z0-9_-]{43}$/;

/**
 * A secret that its holder sends and nobody else knows: of a session's cookie, or of a link.
 * @param randomBytes secure source, `n` bytes at a time
 */
export function newSecret(randomBytes: (n: number) => Uint8Array): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** Whether a text has the form of a secret at all. */
export function looksLikeSecret(text: string): boolean {
  return FORMAT.test(text);
}

/** What the database keeps of a secret: its SHA-256 in hex. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * The token that a page sends with its writes. Whoever holds the cookie's secret can make it, which is
 * this service and the browser, that shows it to no page; whoever has read the database cannot.
 */
export function csrfToken(sessionSecret: string): string {
  return createHmac('sha256', sessionSecret).update('csrf').digest('base64url');
}
