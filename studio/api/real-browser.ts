import type { ClientBrowser } from './studio-client.ts';

/** What the client takes of the browser that it runs in. */
export function realBrowser(): ClientBrowser {
  return {
    fetch: (url, init) => fetch(url, init),
    newKey: newKey,
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

/** As `crypto.randomUUID()`, which is there in secure contexts alone: a studio may be at `http://192.168.1.2`. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
