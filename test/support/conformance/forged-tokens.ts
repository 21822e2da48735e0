import { generateKeyPairSync, sign } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { newSigningKey } from '../../../server/auth/viewer-tokens/keyring.ts';

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The three parts of a token. */
export function partsOf(token: string): [header: string, payload: string, signature: string] {
  return token.split('.') as [string, string, string];
}

/** The claims of a token with some of them changed. */
export function claimsWith(token: string, changes: Record<string, unknown>) {
  return { ...decodeJwt(token), ...changes };
}

/** The same signature pasted under other claims. */
export function pasted(token: string, changes: Record<string, unknown>): string {
  const [header, , signature] = partsOf(token);
  return `${header}.${encoded(claimsWith(token, changes))}.${signature}`;
}

/** The same claims, unsigned: `alg` none, with whatever is left for a signature. */
export function unsigned(token: string, signature = ''): string {
  const { kid } = decodeProtectedHeader(token);
  return `${encoded({ alg: 'none', typ: 'JWT', kid })}.${partsOf(token)[1]}.${signature}`;
}

/** The same claims under HS256, with what everybody knows as the secret. */
export function signedWithPublicKey(token: string, secret: string | Uint8Array): Promise<string> {
  const { kid } = decodeProtectedHeader(token);
  const key = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret;
  return new SignJWT(decodeJwt(token))
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: kid ?? '' })
    .sign(key);
}

/** The same claims signed with a key of somebody else, under a `kid` of our choice. */
export async function signedByStranger(token: string, kid: string): Promise<string> {
  const { privateJwk } = await newSigningKey();
  const header = { alg: 'EdDSA', typ: 'JWT', kid };
  return new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(JSON.parse(privateJwk));
}

/** Claims signed with a key of the service itself: what is wrong is in the claims alone. */
export function signedByUs(
  privateJwk: string,
  kid: string,
  claims: Record<string, unknown>,
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid })
    .sign(JSON.parse(privateJwk));
}

/** A token that brings its own key in the header, as careless verifiers accept. */
export function bringsItsKey(token: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  const { kid } = decodeProtectedHeader(token);
  const head = encoded({ alg: 'EdDSA', typ: 'JWT', kid, jwk });
  const signed = `${head}.${partsOf(token)[1]}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}
