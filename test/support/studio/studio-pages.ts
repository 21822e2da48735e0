import { expect } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { axeViolations } from '../player/axe.ts';

// What tests do with any page of the studio.

const WIDTHS = [1_440, 1_024, 390] as const;
const LOOKS = ['light', 'dark'] as const;
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';
// Where the library of components keeps for 7 s what it has read out: by then what that refers to may
// be gone.
// The viewers' page in a frame is tried where it is on its own.
const AXE = { except: ['[data-live-announcer]', 'iframe'], waitsForVideo: false };
// Where pictures are left for people who look at them; without it there are none.
const PICTURES = process.env.FOURBEAT_TEST_PICTURES;

export const button = (page: Page, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

export const field = (page: Page, name: string): Locator => page.getByLabel(name, { exact: true });

/** Everybody can use what is on the page, at all sizes, and nothing is wider than the screen. */
export async function expectUsable(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
    for (const colorScheme of LOOKS) {
      await page.emulateMedia({ colorScheme });
      // By night a page has other colors, and nothing else.
      const faults = await axeViolations(page, { ...AXE, colors: colorScheme === 'dark' });
      expect([name, width, colorScheme, faults]).toEqual([name, width, colorScheme, []]);
      await saveScreenshot(page, `studio-${name}-${width}-${colorScheme}`);
    }
    expect([name, width, await page.evaluate(TOO_WIDE)]).toEqual([name, width, 0]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  if (before) await page.setViewportSize(before);
}

/** A picture for people, where they asked for some. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  if (!PICTURES) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}

interface ParsedEvent {
  /** Seconds to answer. */
  readonly seconds?: number;
  /** Its results are shown when somebody says so. */
  readonly isManualReveal?: boolean;
}

/** Writes a quiz, of whose choices Jupiter is right, at the end of the rundown. */
export async function writeQuiz(
  page: Page,
  question: string,
  { seconds = 3, isManualReveal = false }: ParsedEvent = {},
): Promise<void> {
  await button(page, 'New quiz').click();
  await field(page, 'Question').fill(question);
  await field(page, 'Choice 1').fill('Mars');
  await field(page, 'Choice 2').fill('Jupiter');
  await page.getByText('Mark the right one').waitFor();
  await page.getByRole('radio', { name: 'Choice 2 is right' }).check({ force: true });
  await page.getByRole('textbox', { name: 'Time to answer, seconds' }).fill(String(seconds));
  if (isManualReveal) await page.getByText('Show the results by hand').click();
  await button(page, 'Add it').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText(question).waitFor();
}
