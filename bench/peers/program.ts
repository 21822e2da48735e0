import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { SERVER_CORE, startPinned, waitForOutput } from '../run/pinned.ts';
import type { Peer } from './peer.ts';

/** Starts a file of this folder as a peer on Node or Bun, and waits until it prints its url. */
export async function startPeer(
  runtime: 'node' | 'bun',
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Peer> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const program = runtime === 'bun' ? process.execPath : 'node';
  const server = startPinned(SERVER_CORE, [program, path], { env: { ...peerEnv(), ...env } });
  const [, url = ''] = await waitForOutput(server, /listening on (\S+)/);
  return { url, server, stop: () => server.stop() };
}

/** Variables for a peer, with a new key pair of the algorithm of our tokens. */
function peerEnv(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const publicPem = createPublicKey(createPrivateKey(pem)).export({ type: 'spki', format: 'pem' });
  return {
    NODE_ENV: 'production',
    NODE_NO_WARNINGS: '1',
    PRIVATE_KEY: pem,
    PUBLIC_KEY: publicPem as string,
  };
}
