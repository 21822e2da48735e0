import { mkdirSync } from 'node:fs';
import type { BrowserContextOptions } from 'playwright-core';
import { launchBrowser } from '../media/browser.ts';
import { serveFixture } from './fixture-server.ts';
import { SCENES } from './pages/scenes.ts';
import { SCREENS } from './scene-fixture.ts';

// `bun test/support/player/screenshots.ts quiz` saves a screenshot of every scene whose name contains
// one of the words.

const FOLDER = 'test/player/pictures';
const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  'phone-light': { ...SCREENS.phone, colorScheme: 'light' },
  'phone-dark': { ...SCREENS.phone, colorScheme: 'dark' },
  'landscape-dark': { ...SCREENS.landscape, colorScheme: 'dark' },
  'desktop-light': { ...SCREENS.desktop, colorScheme: 'light' },
  'desktop-dark': { ...SCREENS.desktop, colorScheme: 'dark' },
};
// Until animations have ended.
const SETTLED_MS = 1_500;

const words = process.argv.slice(2);
const names = Object.keys(SCENES).filter(
  (name) => words.length === 0 || words.some((word) => name.includes(word)),
);
mkdirSync(FOLDER, { recursive: true });
const server = await serveFixture();
const browser = await launchBrowser();
for (const [look, options] of Object.entries(LOOKS)) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`${look}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`${look}: ${message.text()}`);
  });
  for (const name of names) {
    await page.goto(server.urlOf(name, true));
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: `${FOLDER}/${name}-${look}.png` });
  }
  await context.close();
}
await browser.close();
await server.close();
console.log(`${FOLDER}: ${names.join(', ')}`);
