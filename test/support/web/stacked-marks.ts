import type { Locator } from 'playwright-core';

/** The first characters of a text with stacked marks. A random code may contain the letter alone. */
export const STACKED = 'Z\u0302';

/** A letter with many combining marks: fonts that stack them paint far above its line. @param chars length of the text */
export const stackedMarks = (chars: number) => `Z${'\u0302'.repeat(chars - 1)}`;

/** Whether an element is painted on another one, which stays as it is without it. Hides the element. */
export async function isPaintedOn(covered: Locator, element: Locator): Promise<boolean> {
  const before = await covered.screenshot();
  await element.evaluate((node) => node.style.setProperty('visibility', 'hidden'));
  return !before.equals(await covered.screenshot());
}
