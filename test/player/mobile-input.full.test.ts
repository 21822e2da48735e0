import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { axeViolations } from '../support/player/axe.ts';
import { QUIZ, RESULTS, STREAM } from '../support/player/pages/fake-viewer.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import {
  boxOf,
  callsOf,
  choiceOf,
  openQuiz,
  quizOf,
  updateSnapshot,
} from '../support/player/scene-page.ts';

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

/** Simulates the on-screen keyboard of iPhones: the visual viewport shrinks and moves down. */
const KEYBOARD_OVER_PAGE = `
  const viewport = Object.assign(new EventTarget(), { height: innerHeight, offsetTop: 0, scale: 1 });
  Object.defineProperty(window, 'visualViewport', { value: viewport });
  globalThis.keyboard = (px) => {
    Object.assign(viewport, { height: innerHeight - px, offsetTop: px > 0 ? 100 : 0 });
    viewport.dispatchEvent(new Event('resize'));
  };`;

/** The visible part of the window under the keyboard of `KEYBOARD_OVER_PAGE`, px. */
const VISIBLE = { top: 100, bottom: 844 - 336 + 100 };
const CHOICES = ['Mars', 'Jupiter', 'Venus'];

const textField = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });

/** Whether the center of an element is on top of the page, so that a tap reaches it. */
const isTappable = (locator: Locator) =>
  locator.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    return element.contains(hit);
  });

/** Checks that the open quiz can be read and answered, and that its text field can be used. */
async function expectUsable(page: Page, visible = { top: 0, bottom: 844 }): Promise<void> {
  const parts = [
    quizOf(page).getByRole('heading', { name: QUIZ.question }),
    ...CHOICES.map((name) => choiceOf(page, name)),
    textField(page),
  ];
  for (const part of parts) {
    const { y, height } = await boxOf(part);
    expect(y).toBeGreaterThanOrEqual(visible.top);
    expect(y + height).toBeLessThanOrEqual(visible.bottom);
    expect(await isTappable(part)).toBe(true);
  }
}

describe('a quiz on a phone, while the viewer types', () => {
  test('stands above the text field, and keeps its text and its focus', async () => {
    const page = await fixture.open('live', 'phone');
    await textField(page).fill('I say ');
    await openQuiz(page);
    await choiceOf(page, 'Mars').waitFor();
    await expectUsable(page);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.type('so');
    await choiceOf(page, 'Mars').tap();
    expect(await callsOf(page)).toEqual(['answer Mars']);
    await page.keyboard.type(' too');
    expect(await textField(page).inputValue()).toBe('I say so too');
  });

  test('is above a keyboard that covers the page', async () => {
    const page = await fixture.open('live', 'phone', { script: KEYBOARD_OVER_PAGE });
    await textField(page).focus();
    await page.evaluate('keyboard(336)');
    await openQuiz(page);
    await choiceOf(page, 'Mars').waitFor();
    await expectUsable(page, VISIBLE);
    await page.evaluate('keyboard(0)');
    const { y, height } = await boxOf(textField(page));
    expect(y + height).toBeGreaterThan(700);
  });

  test('has the whole window above the text field, when a keyboard leaves little of it', async () => {
    const page = await fixture.open('live', 'phone');
    await page.setViewportSize({ width: 360, height: 304 });
    await textField(page).focus();
    await openQuiz(page);
    await choiceOf(page, 'Mars').waitFor();
    await expectUsable(page, { top: 0, bottom: 304 });
    await choiceOf(page, 'Venus').tap();
    expect(await callsOf(page)).toEqual(['answer Venus']);
  });

  test('is readable again and again, and no quiz gives the focus to the text field', async () => {
    const page = await fixture.open('live', 'phone');
    await textField(page).focus();
    await openQuiz(page);
    await textField(page).blur();
    await choiceOf(page, 'Mars').tap();
    await updateSnapshot(page, { quiz: null });
    await quizOf(page).waitFor({ state: 'detached' });
    expect(await textField(page).evaluate((field) => field.matches(':focus'))).toBe(false);
    await openQuiz(page);
    await choiceOf(page, 'Jupiter').waitFor();
    for (const name of CHOICES) expect(await isTappable(choiceOf(page, name))).toBe(true);
  });

  test('can be hidden, and leaves the chat and the heart button usable', async () => {
    const page = await fixture.open('live', 'phone');
    await textField(page).focus();
    await openQuiz(page);
    await page.getByRole('button', { name: 'Send a heart' }).click();
    expect(await callsOf(page)).toEqual(['sendHeart']);
    await quizOf(page).getByRole('button', { name: 'Hide the quiz' }).tap();
    await choiceOf(page, 'Mars').waitFor({ state: 'detached' });
    await quizOf(page).getByRole('button', { name: 'Show the quiz' }).tap();
    await choiceOf(page, 'Mars').waitFor();
  });

  test('is followed by its winners, above the text field too', async () => {
    const page = await fixture.open('live', 'phone', { script: KEYBOARD_OVER_PAGE });
    await textField(page).fill('I say ');
    await page.evaluate('keyboard(336)');
    await updateSnapshot(page, {
      winners: { isWinning: null, hasWon: true, count: 12 },
      stream: { ...STREAM, winner_code: 'KOTA-4729' },
    });
    await page.evaluate("viewer.emit('quiz-winners', { count: 12 })");
    const winners = page.getByRole('region', { name: 'Winners' });
    await winners.getByText('You are one of 12 winners.').waitFor();
    const code = winners.getByText('KOTA-4729', { exact: true });
    for (const part of [code, winners.getByRole('button', { name: 'Close' }), textField(page)]) {
      const { y, height } = await boxOf(part);
      expect(y + height).toBeLessThanOrEqual(VISIBLE.bottom);
      expect(await isTappable(part)).toBe(true);
    }
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.type('so');
    expect(await textField(page).inputValue()).toBe('I say so');
    await winners.getByRole('button', { name: 'Close' }).tap();
    await winners.waitFor({ state: 'detached' });
  });
});

describe('a quiz on a phone', () => {
  test('with long choices shows that more follow, until the last one is visible', async () => {
    const page = await fixture.open('quiz-long', 'phone');
    const more = quizOf(page).getByRole('button', { name: 'More choices', includeHidden: true });
    const last = choiceOf(page, 'None of these');
    const gone = more.waitFor({ state: 'detached' });
    for (let presses = 0; presses < 5 && !(await isTappable(last)); presses++)
      await Promise.race([more.tap(), gone]);
    await gone;
    await last.tap();
    expect(await callsOf(page)).toEqual(['answer None of these']);
  });

  const RECORD_VIBRATIONS = `
    globalThis.vibrations = [];
    navigator.vibrate = (pattern) => vibrations.push(pattern) > 0;`;

  test.each([
    ['no-preference', [[40], [15], [20, 60, 20]]],
    ['reduce', []],
  ] as const)(
    'is felt when it opens, is answered and was correct: %s',
    async (reducedMotion, expected) => {
      const options = { script: RECORD_VIBRATIONS, reducedMotion };
      const page = await fixture.open('live', 'phone', options);
      await page.getByRole('button', { name: 'Send a heart' }).tap();
      await openQuiz(page);
      await choiceOf(page, 'Jupiter').tap();
      await quizOf(page).locator('[aria-pressed=true]').waitFor();
      await updateSnapshot(page, {
        quiz: { quiz: QUIZ, choice: 'Jupiter', outcome: 'counted', results: RESULTS },
      });
      await quizOf(page).locator('.quiz-result--correct').waitFor();
      expect(await page.evaluate<unknown>('vibrations')).toEqual(expected);
    },
  );
});
