import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const RUN = `axe.run(document, ${JSON.stringify({ runOnly: RULES, resultTypes: ['violations'] })})`;

/** Makes `faultsIn` work in the pages that are opened from now on. */
export async function addAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: AXE });
}

/** @returns what breaks WCAG 2.2 AA, as far as a program can tell: each rule with its elements */
export async function faultsIn(page: Page): Promise<string[][]> {
  const { violations } = await page.evaluate<AxeResults>(RUN);
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}
