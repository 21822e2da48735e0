import { createPublicKey, type JsonWebKeyInput, type KeyObject, verify } from 'node:crypto';

/**
 * Makes the operations of WebCrypto that the service uses synchronous: the runtime runs them in other
 * threads, whose results arrive at any real time. Signatures are checked as before.
 * @returns a function that restores them
 */
export function installSynchronousWebCrypto(): () => void {
  const keys = new WeakMap<object, KeyObject>();
  const operations = Object.getPrototypeOf(crypto.subtle) as SubtleCrypto;
  const { importKey, verify: verifySignature } = operations;
  Object.assign(operations, {
    importKey: (_format: string, jwk: JsonWebKeyInput['key']) => {
      const properties = {
        algorithm: { value: { name: 'Ed25519' } },
        type: { value: 'public' },
        extractable: { value: false },
        usages: { value: ['verify'] },
      };
      const imported = Object.create(CryptoKey.prototype, properties) as object;
      keys.set(imported, createPublicKey({ key: jwk, format: 'jwk' }));
      return Promise.resolve(imported);
    },
    verify: (_algorithm: unknown, key: object, signature: Uint8Array, data: Uint8Array) =>
      Promise.resolve(verify(null, data, keys.get(key) as KeyObject, signature)),
  });
  return () => Object.assign(operations, { importKey, verify: verifySignature });
}
