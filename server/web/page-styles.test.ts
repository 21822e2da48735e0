import { describe, expect, test } from 'bun:test';
import { fileURLToPath } from 'node:url';
import postcss, { type Rule } from 'postcss';
import { PAGE_OPTIONS, withPageServer } from '../../test/support/web/page-server.ts';
import { buildFiles } from './built-files.ts';
import { studioPageRoutes } from './studio-page.ts';

// The stylesheets as browsers receive them.

const STYLES: Readonly<Record<string, () => Promise<string>>> = {
  'player/start-page.css': () => builtStyle('player/start-page.css'),
  'player/watch-page.css': () => builtStyle('player/watch-page.css'),
  'studio/display/display.css': () => builtStyle('studio/display/display.css'),
  'studio/studio.css': () =>
    withPageServer(studioPageRoutes(PAGE_OPTIONS), async (origin) => {
      return (await fetch(`${origin}/studio/files/studio.css`)).text();
    }),
};

async function builtStyle(path: string): Promise<string> {
  const files = await buildFiles([fileURLToPath(new URL(`../../${path}`, import.meta.url))], '/');
  return [...files.values()].map(({ content }) => content).join('\n');
}

/** The selectors of a stylesheet that apply while the pointer is over an element, by their guard. */
function hoverSelectors(style: string): { guarded: string[]; unguarded: string[] } {
  const selectors = { guarded: [] as string[], unguarded: [] as string[] };
  postcss.parse(style).walkRules(/:hover/, (rule) => {
    selectors[isGuarded(rule) ? 'guarded' : 'unguarded'].push(rule.selector);
  });
  return selectors;
}

/** Whether the rule applies only to devices whose pointer can hover. */
function isGuarded(rule: Rule): boolean {
  for (let parent = rule.parent; parent; parent = parent.parent as typeof parent) {
    if ('params' in parent && /^\(hover:\s*hover\)/.test(String(parent.params))) return true;
  }
  return false;
}

describe('stylesheets', () => {
  test.each(Object.entries(STYLES))(
    '%s has hover only for devices that can hover: a phone hovers where it was tapped last',
    async (path, read) => {
      const { guarded, unguarded } = hoverSelectors(await read());
      expect(unguarded).toEqual([]);
      // The display has no buttons but one.
      if (!path.endsWith('display.css')) expect(guarded).not.toEqual([]);
    },
  );

  test('the check finds hover without a guard, also in nested rules', () => {
    const style = `@media (hover:hover){a:hover{color:red}}
      @media (width > 1px){b{&:hover{color:red}}} c:hover{color:red}`;
    expect(hoverSelectors(style)).toEqual({
      guarded: ['a:hover'],
      unguarded: ['&:hover', 'c:hover'],
    });
  });
});
