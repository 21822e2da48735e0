import { generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { newSigningKey } from '../../../server/auth/viewer-tokens/keyring.ts';

const encodeJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The three parts of a token. */
export function partsOf(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}

/** The claims of a token with some of them changed. */
export function claimsWith(token: string, changes: Record<string, unknown>) {
  return { ...decodeJwt(token), ...changes };
}

/** The same signature pasted under other claims. */
export function withPastedSignature(token: string, changes: Record<string, unknown>): string {
  const [header, , signature] = partsOf(token);
  return `${header}.${encodeJson(claimsWith(token, changes))}.${signature}`;
}

/** The same claims with `alg` none and the given signature. */
export function unsigned(token: string, signature = ''): string {
  const { kid } = decodeProtectedHeader(token);
  return `${encodeJson({ alg: 'none', typ: 'JWT', kid })}.${partsOf(token)[1]}.${signature}`;
}

/** The same claims signed with HS256 and a public value as the secret. */
export function signedWithPublicKey(token: string, secret: string | Uint8Array): Promise<string> {
  const { kid } = decodeProtectedHeader(token);
  const key = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
  return new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: kid ?? '' })
    .sign(key);
}

/** The same claims signed, under the given `kid`, with a key that the service does not know. */
export async function signedByUnknownKey(token: string, kid: string): Promise<string> {
  const { privateJwk } = await newSigningKey();
  const header = { alg: 'EdDSA', typ: 'JWT', kid };
  return new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(JSON.parse(privateJwk));
}

/** Claims signed with a key of the service, so that only the claims are wrong. */
export function signedByServiceKey(
  privateJwk: string,
  kid: string,
  claims: Record<string, unknown>,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid })
    .sign(JSON.parse(privateJwk));
}

/** A token with its own key in the header, which careless verifiers accept. */
export function withEmbeddedKey(token: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  const { kid } = decodeProtectedHeader(token);
  const head = encodeJson({ alg: 'EdDSA', typ: 'JWT', kid, jwk });
  const signed = `${head}.${partsOf(token)[1]}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}
