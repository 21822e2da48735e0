import type { Locator } from 'playwright-core';

/** The begin of such a text. A letter alone may also be in a random code. */
export const STACKED = 'Z\u0302';

/** A letter with so many marks that they reach far above it, where fonts stack them. @param chars in all */
export const stackedMarks = (chars: number) => `Z${'\u0302'.repeat(chars - 1)}`;

/** Whether an element is painted on another one, which stays as it is without it. Hides the element. */
export async function isPaintedOn(covered: Locator, element: Locator): Promise<boolean> {
  const before = await covered.screenshot();
  await element.evaluate((node) => node.style.setProperty('visibility', 'hidden'));
  return !before.equals(await covered.screenshot());
}
