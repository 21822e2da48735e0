import { expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { IS_FULL_RUN } from '../full-run.ts';
import { axeViolations } from '../player/axe.ts';

// Helpers for pages of the studio.

const WIDTHS = [1_440, 1_024, 390] as const;
const COLOR_SCHEMES = ['light', 'dark'] as const;
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';
// Live announcements may refer to removed elements for 7 s; tests of the viewers' page cover the
// frame.
const AXE = { except: ['[data-live-announcer]', 'iframe'], waitsForVideo: false };
// Folder for screenshots; unset: none are saved.
const SCREENSHOT_FOLDER = process.env.FOURBEAT_TEST_PICTURES;

export const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

export const field = (page: Page | Locator, name: string): Locator =>
  page.getByLabel(name, { exact: true });

/**
 * Checks that a page is accessible (axe) and not wider than the screen: as it is now, and in
 * `npm run test:full` at every size, light and dark.
 */
export async function expectUsable(page: Page, name: string): Promise<void> {
  if (!IS_FULL_RUN) {
    expect([name, await axeViolations(page, AXE)]).toEqual([name, []]);
    expect([name, await page.evaluate(TOO_WIDE)]).toEqual([name, 0]);
    return;
  }
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme });
      // The dark theme changes only colors.
      const violations = await axeViolations(page, { ...AXE, onlyColors: colorScheme === 'dark' });
      expect([name, width, colorScheme, violations]).toEqual([name, width, colorScheme, []]);
      await saveScreenshot(page, `studio-${name}-${width}-${colorScheme}`);
    }
    expect([name, width, await page.evaluate(TOO_WIDE)]).toEqual([name, width, 0]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
}

/** Saves a screenshot for people, when a folder is set. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!SCREENSHOT_FOLDER) return;
  mkdirSync(SCREENSHOT_FOLDER, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOT_FOLDER, `${name}.png`) });
}

interface QuizFormInput {
  /** Time to answer. */
  readonly seconds?: number;
  /** The host reveals the results. */
  readonly isManualReveal?: boolean;
}

/** Adds a quiz at the end of the rundown, with Jupiter as the correct answer. */
export async function addQuiz(
  page: Page,
  question: string,
  { seconds = 3, isManualReveal = false }: QuizFormInput = {},
): Promise<void> {
  await button(page, 'New quiz').click();
  await field(page, 'Question').fill(question);
  await field(page, 'Choice 1').fill('Mars');
  await field(page, 'Choice 2').fill('Jupiter');
  await page.getByText('Mark the correct answer.').waitFor();
  await page.getByRole('radio', { name: 'Choice 2 is correct' }).check({ force: true });
  await page.getByRole('textbox', { name: 'Time to answer, seconds' }).fill(String(seconds));
  if (isManualReveal) await page.getByText('Show results manually').click();
  await button(page, 'Add').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText(question).waitFor();
}
