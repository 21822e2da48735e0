import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** Those that look at colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Makes `faultsIn` work in the pages that are opened from now on. */
export async function addAxe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ path: AXE });
}

interface AxeSettings {
  /** Selectors of what is left out. */
  readonly except?: readonly string[];
  /** Only what depends on colours: the page was looked at in others. */
  readonly colours?: boolean;
  /** A video that never has a picture is waited for, 10 s each time. */
  readonly waitsForVideo?: boolean;
}

/** @returns what breaks WCAG 2.2 AA, as far as a program can tell: each rule with its elements */
export async function faultsIn(
  page: Page,
  { except = [], colours = false, waitsForVideo = true }: AxeSettings = {},
): Promise<string[][]> {
  const runOnly = colours ? COLOURS : RULES;
  const options = { runOnly, resultTypes: ['violations'], preload: waitsForVideo };
  const place = JSON.stringify({ exclude: except.map((selector) => [selector]) });
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${place}, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}
