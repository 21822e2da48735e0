import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { axeViolations } from '../support/player/axe.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import {
  boxOf,
  callsOf,
  choiceOf,
  focusedName,
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

describe('the text field on a phone', () => {
  const isVisible = (field: Locator) =>
    field.evaluate((box) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      return box === box.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    });

  test('stays visible when a quiz opens, and the quiz expands when the field loses the focus', async () => {
    const page = await fixture.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill('I say ');
    await openQuiz(page);
    await quizOf(page).getByRole('button', { name: 'Show the quiz' }).waitFor();
    expect(await isVisible(field)).toBe(true);
    await page.keyboard.type('so');
    expect(await field.inputValue()).toBe('I say so');
    await field.blur();
    await choiceOf(page, 'Mars').tap();
    expect(await callsOf(page)).toEqual(['answer Mars']);
  });

  test('can be left for the quiz and focused again', async () => {
    const page = await fixture.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.focus();
    await openQuiz(page);
    await quizOf(page).getByRole('button', { name: 'Show the quiz' }).tap();
    await choiceOf(page, 'Mars').waitFor();
    expect(await isVisible(field)).toBe(false);
    await field.focus();
    await choiceOf(page, 'Mars').waitFor({ state: 'detached' });
    expect(await isVisible(field)).toBe(true);
  });

  test('stays visible when winners come, and the winners expand when it loses the focus', async () => {
    const page = await fixture.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill('I say ');
    await updateSnapshot(page, { winners: { isWinning: null, hasWon: true, count: 12 } });
    await page.evaluate("viewer.emit('quiz-winners', { count: 12 })");
    const winners = page.getByRole('region', { name: 'Winners' });
    await winners.getByRole('heading', { name: 'You won!' }).waitFor();
    expect(await isVisible(field)).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.type('so');
    expect(await field.inputValue()).toBe('I say so');
    await winners.getByRole('button', { name: 'Show the winners' }).tap();
    await winners.getByText('You are one of 12 winners.').waitFor();
    expect(await focusedName(page)).toBe('Winners');
    await field.focus();
    await winners.getByRole('button', { name: 'Show the winners' }).waitFor();
    await field.blur();
    await winners.getByRole('button', { name: 'Close' }).tap();
    await winners.waitFor({ state: 'detached' });
  });

  test('is visible above a keyboard that covers the page, and so is the quiz', async () => {
    const page = await fixture.open('live', 'phone', { script: KEYBOARD_OVER_PAGE });
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.focus();
    await page.evaluate('keyboard(336)');
    await openQuiz(page);
    const showButton = quizOf(page).getByRole('button', { name: 'Show the quiz' });
    await showButton.waitFor();
    // The window is 844 px high. The keyboard covers 336 px; the visible part begins at 100 px.
    for (const { y, height } of [await boxOf(field), await boxOf(showButton)]) {
      expect(y).toBeGreaterThan(100);
      expect(y + height).toBeLessThan(844 - 336 + 100);
    }
    await page.evaluate('keyboard(0)');
    const { y, height } = await boxOf(field);
    expect(y + height).toBeGreaterThan(700);
  });

  test('leaves the heart button beside it usable while it has the focus and a quiz is open', async () => {
    const page = await fixture.open('live', 'phone');
    await page.getByRole('textbox', { name: 'Write a message' }).focus();
    await openQuiz(page);
    await quizOf(page).getByRole('button', { name: 'Show the quiz' }).waitFor();
    await page.getByRole('button', { name: 'Send a heart' }).click();
    expect(await callsOf(page)).toEqual(['sendHeart']);
  });
});
