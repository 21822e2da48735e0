import type { BrowserContext, Page } from 'playwright-core';

/** A quiz that appeared over the video. */
export interface Overlay {
  readonly question: string;
  /** The time burnt into the frame that was on screen then, Unix ms. */
  readonly pictureMs: number;
  /** By the system clock, Unix ms. */
  readonly nowMs: number;
}

/** The global `pictureClock` of a page with `pages/picture-clock.ts`. */
export interface PictureClockApi {
  /** The time burnt into the frame on screen, Unix ms; null: not readable. */
  pictureMs(): number | null;
  /** The latency of the frame on screen, ms; null: not readable. */
  behindMs(): number | null;
  /** Seeks to the frame with this latency. */
  seek(behindMs: number): void;
  overlays(): readonly Overlay[];
}

declare const pictureClock: PictureClockApi;

/** Adds the global `pictureClock` to all pages of a context. */
export async function addPictureClock(context: BrowserContext): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [new URL('./pages/picture-clock.ts', import.meta.url).pathname],
    target: 'browser',
    format: 'iife',
  });
  await context.addInitScript({ content: (await outputs[0]?.text()) ?? '' });
}

export const pictureMsOf = (page: Page) => page.evaluate(() => pictureClock.pictureMs());

export const behindMsOf = (page: Page) => page.evaluate(() => pictureClock.behindMs());

export const seekTo = (page: Page, behindMs: number) =>
  page.evaluate((ms) => pictureClock.seek(ms), behindMs);

/** Each quiz that appeared over the video, in order. */
export const overlaysOf = (page: Page) => page.evaluate(() => pictureClock.overlays());
