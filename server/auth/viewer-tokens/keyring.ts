import { createPrivateKey, type KeyObject } from 'node:crypto';
import { exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { headerOf } from './sign-token.ts';
import { publishedKeys, rotationIsDue, type SigningKey, signingKeyAt } from './signing-keys.ts';
import type { tokenProcedures } from './tokens-sql.ts';

type KeyStore = Pick<Calls<typeof tokenProcedures>, 'listSigningKeys' | 'rotateSigningKeys'>;

interface ImportedKey {
  readonly key: SigningKey;
  readonly privateKey: KeyObject;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Creates an Ed25519 key pair to offer to the database. */
export async function newSigningKey(): Promise<{ kid: string; privateJwk: string }> {
  const { privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(privateKey);
  return { kid: runtime.newId(), privateJwk: JSON.stringify(jwk) };
}

async function importKey(key: SigningKey): Promise<ImportedKey> {
  const jwk: JWK = JSON.parse(key.privateJwk);
  const { d: _secret, ...publicPart } = jwk;
  const publicJwk: JWK = { ...publicPart, kid: key.kid, alg: 'EdDSA', use: 'sig' };
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = (await importJWK(publicJwk, 'EdDSA')) as CryptoKey;
  return { key, privateKey, publicKey, publicJwk };
}

/** The signing keys of the database, imported for use in this process. */
export class Keyring {
  private keys = new Map<string, ImportedKey>();
  private byHeader = new Map<string, ImportedKey>();

  constructor(private readonly store: KeyStore) {}

  /** Rotates the keys when a rotation is due or forced, then loads them from the database. */
  async refresh(nowMs: number, force = false): Promise<void> {
    let stored = await this.store.listSigningKeys({});
    if (rotationIsDue(stored, nowMs, force)) {
      stored = await this.store.rotateSigningKeys({ offered: await newSigningKey(), force, nowMs });
    }
    const keys = new Map<string, ImportedKey>();
    for (const key of stored) keys.set(key.kid, this.keys.get(key.kid) ?? (await importKey(key)));
    this.keys = keys;
    this.byHeader = new Map([...keys].map(([kid, key]) => [headerOf(kid), key]));
  }

  /** The key that signs now. @throws Error before the first refresh */
  signingKey(nowMs: number): { kid: string; privateKey: KeyObject } {
    const current = signingKeyAt(
      [...this.keys.values()].map(({ key }) => key),
      nowMs,
    );
    const imported = current && this.keys.get(current.kid);
    if (!imported) throw new Error('the keyring is empty');
    return { kid: imported.key.kid, privateKey: imported.privateKey };
  }

  /**
   * The published key whose tokens have this header; undefined if there is none. Headers of strangers are not parsed:
   * 1.5 KB of numbers as names took 18 ms and 12 MB.
   */
  verificationKey(header: string, nowMs: number): CryptoKey | undefined {
    const entry = this.byHeader.get(header);
    return entry && publishedKeys([entry.key], nowMs).length > 0 ? entry.publicKey : undefined;
  }

  /** The published keys as a JSON Web Key Set (RFC 7517). */
  jwks(nowMs: number): { keys: JWK[] } {
    const published = [...this.keys.values()].filter(
      ({ key }) => publishedKeys([key], nowMs).length > 0,
    );
    return { keys: published.map(({ publicJwk }) => publicJwk) };
  }
}
