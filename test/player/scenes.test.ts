import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { addAxe, axeViolations } from '../support/player/axe.ts';
import { type FixtureServer, serveFixture } from '../support/player/fixture-server.ts';
import { SCENES } from '../support/player/pages/scenes.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';

// Scenes of the watch page: no axe violations (WCAG 2.2 AA), no horizontal overflow, no errors.
// `npm run test:full` has all scenes, on phone and desktop.

const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone-light', { ...SCREENS.phone, colorScheme: 'light' }],
  ['desk-dark', { ...SCREENS.desktop, colorScheme: 'dark' }],
];
/** The scenes of `npm test`. */
const MAIN_SCENES = ['lobby', 'chat-messages', 'quiz-open'];
/** Scenes with video, and so with its controls. */
const PLAYING = new Set(['live', 'ended', 'quiz-open', 'winners-own']);
const NARROW = { width: 320, height: 568 };
const OVERFLOW_PX = 'document.documentElement.scrollWidth - innerWidth';
// The browser logs this for each error status, also for one that the page expects.
const EXPECTED = /^Failed to load resource: /;

// A directory for screenshots of all scenes; unset: none are saved.
const SCREENSHOT_DIR = process.env.FOURBEAT_TEST_PICTURES;

let server: FixtureServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([serveFixture(), launchBrowser()]);
}, 30_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe.each(IS_FULL_RUN ? LOOKS : LOOKS.slice(0, 1))('%s', (look, options) => {
  let context: BrowserContext;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
    await addAxe(context);
    page = await context.newPage();
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
    });
  });
  afterAll(async () => {
    await context.close();
  });

  test.each(IS_FULL_RUN ? Object.keys(SCENES) : MAIN_SCENES)(
    'the scene %s has no axe violations and no overflow',
    async (scene) => {
      errors = [];
      await page.goto(server.urlOf(scene, PLAYING.has(scene)));
      await page.getByRole('main').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      if (SCREENSHOT_DIR)
        await page.screenshot({ path: join(SCREENSHOT_DIR, `${scene}-${look}.png`) });
      if (look.startsWith('phone')) await page.setViewportSize(NARROW);
      expect(await page.evaluate<number>(OVERFLOW_PX)).toBeLessThanOrEqual(0);
      await page.setViewportSize(options.viewport ?? NARROW);
      expect(errors).toEqual([]);
    },
    20_000,
  );
});
