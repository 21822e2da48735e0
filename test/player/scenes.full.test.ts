import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../support/media/browser.ts';
import { addAxe, axeViolations } from '../support/player/axe.ts';
import { type FixtureServer, serveFixture } from '../support/player/fixture-server.ts';
import { SCENES } from '../support/player/pages/scenes.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';

// The viewer page with a viewer that tests play: WCAG 2.2 AA, as far as a program can tell, and
// nothing that is wider than the screen.

const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone-light', { ...SCREENS.phone, colorScheme: 'light' }],
  ['desk-dark', { ...SCREENS.desktop, colorScheme: 'dark' }],
];
/** Those with a picture, and so with its controls. */
const PLAYING = new Set(['live', 'ended', 'quiz-open', 'winners-own']);
const NARROW = { width: 320, height: 568 };
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';
// What a browser says by itself of an answer that a page expects.
const EXPECTED = /^Failed to load resource: /;

// Where pictures of all scenes are left, for people who look at them; without it there are none.
const PICTURES = process.env.FOURBEAT_TEST_PICTURES;

let server: FixtureServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([serveFixture(), launchBrowser()]);
}, 30_000);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

describe.each(LOOKS)('%s', (look, options) => {
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

  test.each(Object.keys(SCENES))(
    'everybody can use the scene %s',
    async (scene) => {
      errors = [];
      await page.goto(server.urlOf(scene, PLAYING.has(scene)));
      await page.getByRole('main').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      if (PICTURES) await page.screenshot({ path: join(PICTURES, `${scene}-${look}.png`) });
      if (look.startsWith('phone')) await page.setViewportSize(NARROW);
      expect(await page.evaluate<number>(TOO_WIDE)).toBeLessThanOrEqual(0);
      await page.setViewportSize(options.viewport ?? NARROW);
      expect(errors).toEqual([]);
    },
    20_000,
  );
});
