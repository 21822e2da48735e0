import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { lineOf, SERVER_CORE, startPinned } from '../run/pinned.ts';
import type { Peer } from './peer.ts';

/** Starts a peer of this folder on Node or Bun; the peer prints its url. */
export async function startProgram(
  runtime: 'node' | 'bun',
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Peer> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const program = runtime === 'bun' ? process.execPath : 'node';
  const server = startPinned(SERVER_CORE, [program, path], { env: { ...keys(), ...env } });
  const [, url = ''] = await lineOf(server, /listening on (\S+)/);
  return { url, server, stop: () => server.stop() };
}

/** A new key pair of the algorithm of our tokens. */
function keys(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const open = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' });
  return {
    NODE_ENV: 'production',
    NODE_NO_WARNINGS: '1',
    PRIVATE_KEY: pem,
    PUBLIC_KEY: open as string,
  };
}
