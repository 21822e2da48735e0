import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { axeViolations } from '../support/player/axe.ts';
import { COUNT_TONES } from '../support/player/count-tones.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import { choiceOf, openQuiz } from '../support/player/scene-page.ts';
import { until } from '../support/until.ts';

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

const soundSwitch = (page: Page) => page.getByRole('button', { name: 'Quiz sounds' });
const tones = (page: Page) => page.evaluate<number>('tones');

test('[B-18] the viewer page is silent until its sounds are switched on', async () => {
  const page = await fixture.open('live', 'phone', { script: COUNT_TONES });
  expect(await soundSwitch(page).getAttribute('aria-pressed')).toBe('false');
  await openQuiz(page);
  await choiceOf(page, 'Mars').waitFor();
  await page.waitForTimeout(300);
  expect(await tones(page)).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
});

test('[B-18] the viewer page remembers its sounds, and plays them for a quiz', async () => {
  const page = await fixture.open('live', 'phone', { script: COUNT_TONES });
  await soundSwitch(page).tap();
  await until('the tone of the switch', async () => (await tones(page)) === 1);
  await page.reload();
  await page.getByRole('heading', { name: 'Chat' }).tap();
  expect(await soundSwitch(page).getAttribute('aria-pressed')).toBe('true');
  expect(await axeViolations(page)).toEqual([]);
  await openQuiz(page);
  await until('the tones of the quiz', async () => (await tones(page)) === 2);
  await soundSwitch(page).tap();
  expect(await soundSwitch(page).getAttribute('aria-pressed')).toBe('false');
  expect(await tones(page)).toBe(2);
});
