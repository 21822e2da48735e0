import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** The rules about colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Loads axe into the pages that a context opens from now on; `axeViolations` needs it. */
export async function addAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: AXE });
}

interface AxeSettings {
  /** Selectors of elements to exclude. */
  readonly except?: readonly string[];
  /** Checks only the rules about colors, for a page that was checked with other colors. */
  readonly onlyColors?: boolean;
  /** Default: true; axe then waits up to 10 s for a video that never loads. */
  readonly waitsForVideo?: boolean;
}

/** @returns violations of WCAG 2.2 AA that axe finds: each rule with its elements */
export async function axeViolations(
  page: Page,
  { except = [], onlyColors = false, waitsForVideo = true }: AxeSettings = {},
): Promise<string[][]> {
  const runOnly = onlyColors ? COLOR_RULES : RULES;
  const options = { runOnly, resultTypes: ['violations'], preload: waitsForVideo };
  const context = JSON.stringify({ exclude: except.map((selector) => [selector]) });
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${context}, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}
