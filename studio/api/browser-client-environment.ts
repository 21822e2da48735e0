import { connectionEnvironment } from '../connection/connection-environment.ts';
import type { ClientEnvironment } from './studio-client.ts';

export function browserClientEnvironment(): ClientEnvironment {
  return {
    fetch: (url, init) => fetch(url, init),
    createIdempotencyKey,
    after: connectionEnvironment.after,
    wait: (ms, signal) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal?.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason);
        });
      }),
    monotonicMs: () => performance.now(),
    random: Math.random,
  };
}

/** A random key. Pages without TLS have no `randomUUID`. */
export function createIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
