import type { Pinned } from '../run/pinned.ts';

/** A server that is compared with ours. It runs on the same core as ours. */
export interface Peer {
  readonly url: string;
  readonly server: Pinned;
  stop(): Promise<void>;
}

const START_MS = 10_000;
const POLL_MS = 20;

/** Waits for any response of the url. @throws the last error of `fetch` after 10 s */
export async function waitForResponse(url: string): Promise<void> {
  const endMs = performance.now() + START_MS;
  for (;;) {
    try {
      await fetch(url);
      return;
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await Bun.sleep(POLL_MS);
    }
  }
}
