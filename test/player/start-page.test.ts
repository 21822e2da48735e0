import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { startPageRoutes } from '../../server/web/start-page.ts';
import { typefaceRoutes } from '../../server/web/typeface.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { addAxe, axeViolations } from '../support/player/axe.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { PAGE_OPTIONS, withPageServer } from '../support/web/page-server.ts';
import { isPaintedOn, stackedMarks } from '../support/web/stacked-marks.ts';

const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone-light', { ...SCREENS.phone, colorScheme: 'light' }],
  ['desk-dark', { ...SCREENS.desktop, colorScheme: 'dark' }],
  ['narrow-dark', { viewport: { width: 320, height: 568 }, colorScheme: 'dark' }],
];
const OVERFLOW_PX = 'document.documentElement.scrollWidth - innerWidth';
const FOCUSED = 'document.activeElement?.getAttribute("href")';

// A directory for screenshots; unset: none are saved.
const SCREENSHOT_DIR = process.env.FOURBEAT_TEST_PICTURES;

const readLiveShows = async () => [
  { id: 'a', title: 'Friday quiz night' },
  { id: 'b', title: 'The complete history of all shows that were ever made, part one' },
];

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
}, 30_000);
afterAll(async () => {
  await browser?.close();
});

describe('the start page', () => {
  test.each(LOOKS)(
    '[O-23] the start page has no axe violations, fits and has its links in order on %s',
    (look, options) =>
      withPageServer(
        {
          ...startPageRoutes({ version: '1.2.3', hasStudio: true, readLiveShows, ...PAGE_OPTIONS }),
          ...typefaceRoutes(PAGE_OPTIONS),
        },
        async (origin) => {
          const context = await browser.newContext(options);
          await addAxe(context);
          const page = await context.newPage();
          const errors: string[] = [];
          page.on('console', (message) => {
            if (message.type() === 'error') errors.push(message.text());
          });
          await page.goto(origin);
          await page.getByRole('heading', { level: 1, name: 'Fourbeat' }).waitFor();
          if (SCREENSHOT_DIR)
            await page.screenshot({ path: join(SCREENSHOT_DIR, `start-${look}.png`) });
          expect(await axeViolations(page)).toEqual([]);
          expect(await page.evaluate<number>(OVERFLOW_PX)).toBeLessThanOrEqual(0);
          const focused: string[] = [];
          for (let index = 0; index < 5; index++) {
            await page.keyboard.press('Tab');
            focused.push(await page.evaluate<string>(FOCUSED));
          }
          expect(focused).toEqual(['/watch/a', '/watch/b', '/studio/', '/docs', '/openapi.json']);
          expect(errors).toEqual([]);
          await context.close();
        },
      ),
    20_000,
  );

  test('[O-23] a title of any account covers no other one, and makes the page no wider', async () => {
    const readLiveShows = async () => [
      { id: 'a', title: 'Friday quiz night' },
      { id: 'b', title: stackedMarks(200) },
      { id: 'c', title: 'ha'.repeat(100) },
    ];
    const routes = startPageRoutes({
      ...{ version: '1.2.3', hasStudio: true, readLiveShows },
      ...PAGE_OPTIONS,
    });
    await withPageServer(routes, async (origin) => {
      const page = await browser.newPage({ viewport: { width: 320, height: 568 } });
      await page.goto(origin);
      expect(await page.evaluate<number>(OVERFLOW_PX)).toBeLessThanOrEqual(0);
      const titles = page.locator('#shows li');
      expect(await isPaintedOn(titles.first(), titles.nth(1))).toBe(false);
      await page.close();
    });
  }, 20_000);
});
