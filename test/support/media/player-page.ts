import type { Server } from 'bun';
import type { Browser, Page } from 'playwright-core';
import type { PlayerApi, PlayerKind } from './player-api.ts';

const HTML = `<!doctype html><title>player</title><video muted autoplay playsinline width="320"></video>
<script type="module" src="/player.js"></script>`;

declare const api: PlayerApi;

/** Serves the page of `pages/player.ts`. */
export async function servePlayers(): Promise<Server<undefined>> {
  const built = await Bun.build({
    entrypoints: [new URL('./pages/player.ts', import.meta.url).pathname],
    target: 'browser',
  });
  const script = (await built.outputs[0]?.text()) ?? '';
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/': () => new Response(HTML, { headers: { 'Content-Type': 'text/html' } }),
      '/player.js': () => new Response(script, { headers: { 'Content-Type': 'text/javascript' } }),
    },
  });
}

export interface Playback {
  readonly kind: PlayerKind;
  readonly url: string;
  /** Start in the player's time, s; null for its default. */
  readonly atS: number | null;
}

/** Opens a page that plays a stream, and waits for the first frame. */
export async function openPlayerPage(
  browser: Browser,
  pages: Server<undefined>,
  playback: Playback,
): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(pages.url.href);
  await page.waitForFunction(() => 'api' in globalThis);
  await page.evaluate(({ kind, url, atS }) => api.play(kind, url, atS), playback);
  await page.waitForFunction(() => api.position().width > 0, null, { timeout: 20_000 });
  return page;
}
