import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Quiz, QuizResults } from '../../sdk/types.ts';
import { QUIZ } from '../support/player/pages/fake-viewer.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import { choiceOf, quizOf, updateSnapshot } from '../support/player/scene-page.ts';
import { notIsolated, wordsOf } from '../support/web/isolation.ts';

// The watch page with words of people that run from right to left.

const CHOICES = [wordsOf('a'), wordsOf('b'), wordsOf('c')];
const HEBREW_QUIZ: Quiz = {
  ...QUIZ,
  question: wordsOf('question'),
  order: CHOICES,
  choices: Object.fromEntries(CHOICES.map((choice) => [choice, { count: 0, percentage: 0 }])),
};
const HEBREW_RESULTS: QuizResults = { ...HEBREW_QUIZ, answer: wordsOf('a') };

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

const showQuiz = (page: Page, results: QuizResults | null) =>
  updateSnapshot(page, {
    quiz: { quiz: HEBREW_QUIZ, choice: wordsOf('b'), outcome: 'counted', results },
  });

describe('words from right to left', () => {
  test('leave the words around them in place: a quiz and its results', async () => {
    const page = await fixture.open('live', 'phone');
    await showQuiz(page, null);
    await choiceOf(page, CHOICES[0] as string).waitFor();
    expect(await notIsolated(page)).toEqual([]);
    // The number of a choice stays at its left, and its text begins at its right.
    const direction = await quizOf(page)
      .locator('.quiz-choice-text')
      .first()
      .evaluate((text) => text.matches(':dir(rtl)'));
    expect(direction).toBe(true);
    await showQuiz(page, HEBREW_RESULTS);
    await quizOf(page).getByText('Your answer').waitFor();
    expect(await notIsolated(page)).toEqual([]);
  });

  test('leave the words around them in place: chat, name and text field', async () => {
    const page = await fixture.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill(wordsOf('hello'));
    await page.keyboard.press('Enter');
    await page.getByLabel('Your name, shown with your messages').fill(wordsOf('name'));
    expect(await notIsolated(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Sent, visible soon').waitFor();
    await field.fill(wordsOf('next'));
    const message = { id: 'm', kind: 'question', name: wordsOf('other'), text: wordsOf('text') };
    await updateSnapshot(page, { messages: [message as never] });
    await page.getByText(wordsOf('text')).first().waitFor();
    expect(await notIsolated(page)).toEqual([]);
  });
});
