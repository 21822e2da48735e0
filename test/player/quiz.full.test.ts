import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Snapshot } from '../../sdk/viewer.ts';
import { axeViolations } from '../support/player/axe.ts';
import { QUIZ, RESULTS, STREAM } from '../support/player/pages/fake-viewer.ts';
import { SCREENS, SceneFixture } from '../support/player/scene-fixture.ts';
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

describe('keyboard focus', () => {
  test('a second choice is ignored, by key and by button', async () => {
    const page = await fixture.open('quiz-open');
    await choiceOf(page, 'Venus').click();
    await page.keyboard.press('1');
    await choiceOf(page, 'Mars').click({ force: true });
    expect(await callsOf(page)).toEqual(['answer Venus']);
    expect(await choiceOf(page, 'Venus').getAttribute('aria-pressed')).toBe('true');
    expect(await choiceOf(page, 'Mars').getAttribute('aria-disabled')).toBe('true');
  });

  test('a text field keeps the focus, and number keys type there', async () => {
    const page = await fixture.open('live');
    const box = page.getByRole('textbox', { name: 'Write a message' });
    await box.fill('I say ');
    await openQuiz(page);
    await quizOf(page).waitFor();
    await page.keyboard.press('2');
    expect(await box.inputValue()).toBe('I say 2');
    expect(await callsOf(page)).toEqual([]);
  });

  test('Tab reaches every choice, and the focus stays on the chosen one', async () => {
    const page = await fixture.open('quiz-open');
    for (const name of ['Hide the quiz', 'Mars', 'Jupiter']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toContain(name);
    }
    await page.keyboard.press('Enter');
    expect(await callsOf(page)).toEqual(['answer Jupiter']);
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('Jupiter');
  });

  test('the focus returns to its previous element when the quiz is over', async () => {
    const page = await fixture.open('live');
    const heart = page.getByRole('button', { name: 'Send a heart' });
    await heart.focus();
    await openQuiz(page);
    await choiceOf(page, 'Mars').press('Enter');
    await updateSnapshot(page, { quiz: null });
    await quizOf(page).waitFor({ state: 'detached' });
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain(
      'Send a heart',
    );
  });

  test('Escape closes the winners', async () => {
    const page = await fixture.open('winners-own');
    await page.getByRole('heading', { name: 'You won!' }).waitFor();
    expect(await focusedName(page)).toBe('Winners');
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
  });
});

describe('a choice', () => {
  test('that was not accepted can be made again', async () => {
    const page = await fixture.open('quiz-open');
    await page.evaluate('viewer.answer = () => Promise.reject(new Error("refused"))');
    await choiceOf(page, 'Mars').click();
    await page.getByText('Your answer was not accepted. Choose again.').waitFor();
    expect(await choiceOf(page, 'Mars').getAttribute('aria-disabled')).toBe('false');
  });

  test.each(['phone', 'landscape'] as const)('is at least 48 px high: %s', async (screen) => {
    const page = await fixture.open('quiz-open', screen);
    for (const button of await quizOf(page).getByRole('button').all()) {
      expect((await boxOf(button)).height).toBeGreaterThanOrEqual(48);
    }
  });
});

describe('the quiz sheet with dark colors', () => {
  test('has no axe violations, also collapsed and with results', async () => {
    const page = await fixture.open('quiz-open', 'phone', { colorScheme: 'dark' });
    expect(await axeViolations(page)).toEqual([]);
    await quizOf(page).getByRole('button', { name: 'Hide the quiz' }).click();
    expect(await axeViolations(page)).toEqual([]);
    await quizOf(page).getByRole('button', { name: 'Show the quiz' }).click();
    await choiceOf(page, 'Mars').click();
    expect(await axeViolations(page)).toEqual([]);
    await updateSnapshot(page, {
      quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS },
    });
    await quizOf(page).getByText('Not this time.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });
});

describe('the countdown', () => {
  test('closes the quiz at zero', async () => {
    const page = await fixture.open('quiz-open');
    await page.evaluate('viewer.setRemaining(300)');
    await quizOf(page).getByText('Time is up').waitFor();
    await page.keyboard.press('1');
    expect(await callsOf(page)).toEqual([]);
  });
});

describe('screen readers', () => {
  test('announce the question, the outcome of the answer, and the winners', async () => {
    const page = await fixture.open('quiz-open');
    const announcement = page.locator('[aria-live="assertive"]');
    await announcement
      .getByText(/^Quiz: Which planet .* 1: Mars, 2: Jupiter, 3: Venus\./)
      .waitFor();
    await page.keyboard.press('2');
    await announcement.getByText('Answer locked in!').waitFor();
    await updateSnapshot(page, {
      quiz: null,
      winners: { isWinning: null, hasWon: true, count: 12 },
    });
    await page.evaluate("viewer.emit('quiz-winners', { count: 12 })");
    await announcement.getByText('You won! You are one of 12 winners.').waitFor();
  });

  test('[W-13] keep the code of a winner after the next quiz, until the winner hides it', async () => {
    const page = await fixture.open('winners-own', 'phone');
    const row = page.getByRole('complementary', { name: 'Your code as a winner' });
    await page.getByRole('region', { name: 'Winners' }).waitFor();
    expect(await row.count()).toBe(0);
    await page.evaluate("viewer.emit('quiz', null)");
    await row.getByText('KOTA-4729', { exact: true }).waitFor();
    await updateSnapshot(page, { stream: STREAM });
    await row.getByRole('button', { name: 'Hide your code' }).click();
    await row.waitFor({ state: 'detached' });
    await page.evaluate("viewer.emit('quiz', null)");
    expect(await row.count()).toBe(0);
    await page.evaluate("viewer.emit('quiz-winners', { count: 2 })");
    await page.evaluate("viewer.emit('jump', { interval: 1 })");
    await row.getByText('KOTA-4729', { exact: true }).waitFor();
    await updateSnapshot(page, { winners: { isWinning: null, hasWon: false, count: 2 } });
    await row.waitFor();

    const others = await fixture.open('winners-others');
    await others.evaluate("viewer.emit('quiz', null)");
    await others.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
    expect(await others.getByText('KOTA-4729').count()).toBe(0);
  });

  test('[W-13] announce and show the code of a winner, and none to others', async () => {
    const own = await fixture.open('winners-own');
    const spoken = own.locator('[aria-live="assertive"]');
    await spoken.getByText('You are one of 12 winners. Your code: KOTA-4729').waitFor();
    const card = own.getByRole('region', { name: 'Winners' });
    await card.getByText('KOTA-4729', { exact: true }).waitFor();
    // Later responses with the stream have no code.
    await updateSnapshot(own, { stream: STREAM });
    await card.getByText('KOTA-4729', { exact: true }).waitFor();
    const others = await fixture.open('winners-others');
    await others.getByText('1,234 viewers won.', { exact: true }).waitFor();
    expect(await others.getByText('KOTA').count()).toBe(0);
  });
});

describe('the overlay', () => {
  test.each(Object.keys(SCREENS) as (keyof typeof SCREENS)[])(
    'leaves the controls visible, and can be collapsed: %s',
    async (screen) => {
      const page = await fixture.open('quiz-long', screen, { isPlaying: true });
      const controls = page.locator('media-control-bar');
      await controls.waitFor();
      const leavesBarVisible = async () => {
        const [quiz, bar] = await Promise.all([boxOf(quizOf(page)), boxOf(controls)]);
        return quiz.y + quiz.height <= bar.y || quiz.y >= bar.y + bar.height;
      };
      expect(await leavesBarVisible()).toBe(true);
      const expanded = await boxOf(quizOf(page));
      await quizOf(page).getByRole('button', { name: 'Hide the quiz' }).click();
      expect((await boxOf(quizOf(page))).height).toBeLessThan(expanded.height / 2);
      expect(await leavesBarVisible()).toBe(true);
      await quizOf(page).getByRole('button', { name: 'Show the quiz' }).click();
      expect((await boxOf(quizOf(page))).height).toBe(expanded.height);
    },
  );

  test.each(['quiz-short', 'quiz-results', 'winners-own', 'hearts'])(
    'has no animations with reduced motion: %s',
    async (scene) => {
      const page = await fixture.open(scene, 'phone');
      await page.waitForFunction('viewer.snapshot.hearts === 900 || viewer.snapshot.hearts === 0');
      expect(await page.evaluate<number>('document.getAnimations().length')).toBe(0);
    },
  );

  test('shows winners in place of results, and a new quiz in place of winners', async () => {
    const page = await fixture.open('quiz-results');
    await page.evaluate("viewer.emit('request-quiz-winners', null)");
    await page.getByRole('heading', { name: 'Who won?' }).waitFor();
    await page.evaluate("viewer.emit('quiz', null)");
    await openQuiz(page);
    await choiceOf(page, 'Mars').waitFor();
    expect(await page.getByRole('region', { name: 'Winners' }).count()).toBe(0);
  });

  test('hides a quiz whose close was skipped by a jump, until its results come', async () => {
    const page = await fixture.open('quiz-replayed');
    await quizOf(page).waitFor();
    const jumpTo = (interval: number) =>
      page.evaluate(`viewer.emit('jump', { interval: ${interval} })`);
    await jumpTo(QUIZ.closeInterval - 1);
    await quizOf(page).waitFor();
    await jumpTo(QUIZ.closeInterval + 100);
    await quizOf(page).waitFor({ state: 'detached' });
    await updateSnapshot(page, {
      quiz: { quiz: QUIZ, choice: null, outcome: null, results: RESULTS },
    });
    await quizOf(page).getByText('Results', { exact: true }).waitFor();
  });

  test('does not show the results again when the winners are closed', async () => {
    const page = await fixture.open('quiz-results');
    await page.evaluate("viewer.emit('quiz-winners', { count: 3 })");
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
    expect(await quizOf(page).count()).toBe(0);
    // The viewer seeks back to the quiz, and its results come again.
    const snapshot = await page.evaluate<Snapshot>('viewer.snapshot');
    await updateSnapshot(page, { quiz: null });
    await updateSnapshot(page, { quiz: snapshot.quiz });
    await quizOf(page).getByText('Results', { exact: true }).waitFor();
  });
});
