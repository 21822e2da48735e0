import type { Locator, Page } from 'playwright-core';
import type { Snapshot } from '../../../sdk/viewer.ts';
import { QUIZ } from './pages/fake-viewer.ts';

// What tests do with the page of a scene, and see of it.

/** @returns what the page called of its viewer so far, such as `answer Jupiter` */
export function callsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>('[...viewer.calls]');
}

/** Changes what is on screen. */
export const shows = (page: Page, change: Partial<Snapshot>) =>
  page.evaluate(`viewer.show(${JSON.stringify(change)})`);

/** A quiz comes on screen. */
export async function asks(page: Page): Promise<void> {
  await page.evaluate('viewer.setRemaining(9000)');
  await shows(page, { quiz: { quiz: QUIZ, choice: null, outcome: null, results: null } });
}

export const quizOf = (page: Page) => page.getByRole('region', { name: 'Quiz' });

export const choiceOf = (page: Page, name: string) => quizOf(page).getByRole('button', { name });

/** What has the keyboard: its label, or what it is. */
export const activeName = (page: Page) =>
  page.evaluate<string>('document.activeElement?.ariaLabel ?? document.activeElement?.tagName');

/** Where something is on the screen, px. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error('it is not seen');
  return box;
}
