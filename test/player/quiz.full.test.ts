import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
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

describe('[W-13] the code of a winner', () => {
  const rowOf = (page: Page) => page.getByRole('complementary', { name: 'Your code as a winner' });
  const codeIn = (page: Page) => rowOf(page).getByText('KOTA-4729', { exact: true });
  /** The page after a reload, in which the viewer of this scene is. */
  const reloadAs = (page: Page, scene: string) =>
    page.goto(page.url().replace('scene=winners-own', `scene=${scene}`));
  const winAt = (page: Page, interval: number) =>
    page.evaluate(`viewer.emitAt(${interval}, 'quiz-winners', { count: 2 })`);
  const jumpTo = (page: Page, interval: number) =>
    page.evaluate(`viewer.emit('jump', { interval: ${interval} })`);
  const setWon = (page: Page, hasWon: boolean) =>
    updateSnapshot(page, { winners: { isWinning: null, hasWon, count: 2 } });
  async function hide(page: Page): Promise<void> {
    await rowOf(page).getByRole('button', { name: 'Hide your code' }).click();
    await rowOf(page).waitFor({ state: 'detached' });
  }
  async function openWithoutCard(): Promise<Page> {
    const page = await fixture.open('winners-own', 'phone');
    await page.getByRole('region', { name: 'Winners' }).waitFor();
    expect(await rowOf(page).count()).toBe(0);
    await page.getByRole('button', { name: 'Close' }).click();
    await codeIn(page).waitFor();
    return page;
  }

  test('stays after the winners until it is hidden, and others see none', async () => {
    const page = await fixture.open('winners-own', 'phone');
    await page.getByRole('region', { name: 'Winners' }).waitFor();
    expect(await rowOf(page).count()).toBe(0);
    await page.evaluate("viewer.emit('quiz', null)");
    await codeIn(page).waitFor();
    await updateSnapshot(page, { stream: STREAM });
    await setWon(page, false);
    // Others have won the next round.
    await winAt(page, 200);
    await page.getByRole('region', { name: 'Winners' }).waitFor();
    await codeIn(page).waitFor();
    await hide(page);

    const others = await fixture.open('winners-others');
    await others.evaluate("viewer.emit('quiz', null)");
    await others.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
    expect(await others.getByText('KOTA-4729').count()).toBe(0);
  });

  test.each(['live', 'ended'])('stays after a reload: %s', async (scene) => {
    const page = await openWithoutCard();
    await reloadAs(page, scene);
    await codeIn(page).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await hide(page);
    await reloadAs(page, scene);
    await page.getByRole('main').waitFor();
    expect(await rowOf(page).count()).toBe(0);
  });

  test('stays hidden when the video plays the round again, and comes with the next win', async () => {
    const page = await openWithoutCard();
    await hide(page);
    await setWon(page, false);
    await jumpTo(page, 50);
    await setWon(page, true);
    await winAt(page, 100);
    await page.getByRole('region', { name: 'Winners' }).waitFor();
    await jumpTo(page, 150);
    await page.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
    expect(await rowOf(page).count()).toBe(0);
    await winAt(page, 200);
    await jumpTo(page, 250);
    await codeIn(page).waitFor();
  });

  test('stays hidden when the viewer goes back from a later round that others won', async () => {
    const page = await openWithoutCard();
    await hide(page);
    await setWon(page, false);
    await winAt(page, 200);
    await setWon(page, true);
    await jumpTo(page, 150);
    await page.evaluate("viewer.emitAt(151, 'chats', {})");
    expect(await rowOf(page).count()).toBe(0);
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
