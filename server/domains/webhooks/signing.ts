import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** How long the previous secret also signs after a rotation. */
export const OLD_SECRET_MS = 24 * 3600_000;

/**
 * A new secret in the format of Standard Webhooks: `whsec_` and 32 random bytes in base64.
 * @param randomBytes secure source, `n` bytes at a time
 */
export function newSecret(randomBytes: (n: number) => Uint8Array): string {
  return PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString('base64');
}

export interface WebhookSecrets {
  readonly secret: string;
  readonly oldSecret: string | null;
  /** Unix ms. */
  readonly oldSecretUntil: number | null;
}

/** The secrets that are valid at a time, the newest first. */
export function activeSecrets(
  { secret, oldSecret, oldSecretUntil }: WebhookSecrets,
  nowMs: number,
): string[] {
  const isOldSecretValid = oldSecret !== null && oldSecretUntil !== null && nowMs < oldSecretUntil;
  return isOldSecretValid ? [secret, oldSecret] : [secret];
}

/** The headers by which a receiver verifies origin and age of a body (H-9). */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  atMs: number,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const signed = `${id}.${timestamp}.${body}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signatureOf(secret, signed)).join(' '),
  };
}

function signatureOf(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
