import { expect, test } from 'bun:test';
import { limitsPage } from './limits-page.ts';

test('docs/limits.md has the limits of the code; `npm run limits` writes it', async () => {
  const page = await limitsPage();
  expect(page.match(/^\| (?!What|---)/gm)?.length).toBeGreaterThan(100);
  for (const table of page.split('\n## ').slice(1)) expect(table).toMatch(/\| `\S+` \|/);
  expect(await Bun.file(new URL('../docs/limits.md', import.meta.url)).text()).toBe(page);
});
