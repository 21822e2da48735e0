import type { Locator, Page } from 'playwright-core';
import type { Snapshot } from '../../../sdk/viewer.ts';
import { QUIZ } from './pages/fake-viewer.ts';

// Actions and queries on the page of a scene.

/** @returns the page's calls of its viewer so far, such as `answer Jupiter` */
export function callsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>('[...viewer.calls]');
}

/** Changes the viewer's snapshot. */
export const updateSnapshot = (page: Page, change: Partial<Snapshot>) =>
  page.evaluate(`viewer.show(${JSON.stringify(change)})`);

/** Opens a quiz for 9 s. */
export async function openQuiz(page: Page): Promise<void> {
  await page.evaluate('viewer.setRemaining(9000)');
  await updateSnapshot(page, { quiz: { quiz: QUIZ, choice: null, outcome: null, results: null } });
}

export const quizOf = (page: Page) => page.getByRole('region', { name: 'Quiz' });

export const choiceOf = (page: Page, name: string) => quizOf(page).getByRole('button', { name });

/** The label of the focused element, or its tag name. */
export const focusedName = (page: Page) =>
  page.evaluate<string>('document.activeElement?.ariaLabel ?? document.activeElement?.tagName');

/** The bounding box of a visible element, px. */
export async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error('The element is not visible.');
  return box;
}
