import type { BrowserContext, Page } from 'playwright-core';

/** A quiz that came over the picture. */
export interface Overlay {
  readonly question: string;
  /** Burnt into the frame that was on screen then, Unix ms. */
  readonly pictureMs: number;
  /** By the machine, Unix ms. */
  readonly nowMs: number;
}

/** What `pages/picture-clock.ts` does in a page, as its global `pictureClock`. */
export interface PictureClockApi {
  /** What is burnt into the frame on screen, Unix ms; null: none that can be read. */
  pictureMs(): number | null;
  /** How far the frame on screen is behind now, ms; null: none that can be read. */
  behindMs(): number | null;
  /** Goes to the frame that is so far behind. */
  seek(behindMs: number): void;
  overlays(): readonly Overlay[];
}

declare const pictureClock: PictureClockApi;

/** Has all pages of a context read the clock that is burnt into the test picture. */
export async function addPictureClock(context: BrowserContext): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [new URL('./pages/picture-clock.ts', import.meta.url).pathname],
    target: 'browser',
    format: 'iife',
  });
  await context.addInitScript({ content: (await outputs[0]?.text()) ?? '' });
}

/** The burnt-in clock of a page. */
export const pictureMsOf = (page: Page) => page.evaluate(() => pictureClock.pictureMs());

export const behindMsOf = (page: Page) => page.evaluate(() => pictureClock.behindMs());

export const seekTo = (page: Page, behindMs: number) =>
  page.evaluate((ms) => pictureClock.seek(ms), behindMs);

/** Each quiz that came over the picture, by the moment it was to be seen. */
export const overlaysOf = (page: Page) => page.evaluate(() => pictureClock.overlays());
