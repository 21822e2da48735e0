import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import type { Snapshot } from '../../sdk/viewer.ts';
import { faultsIn } from './axe.ts';
import { QUIZ, RESULTS } from './pages/fake-viewer.ts';
import { callsOf, SCREENS, SceneGround } from './scene-ground.ts';

let ground: SceneGround;

beforeAll(async () => {
  ground = await SceneGround.start();
}, 30_000);
afterEach(() => ground.closePages());
afterAll(() => ground?.close());

const card = (page: Page) => page.getByRole('region', { name: 'Quiz' });
const choice = (page: Page, name: string) => card(page).getByRole('button', { name });
const shows = (page: Page, change: Partial<Snapshot>) =>
  page.evaluate(`viewer.show(${JSON.stringify(change)})`);
/** A quiz comes on screen. */
async function asks(page: Page): Promise<void> {
  await page.evaluate('viewer.setRemaining(9000)');
  await shows(page, { quiz: { quiz: QUIZ, choice: null, outcome: null, results: null } });
}
const activeName = (page: Page) =>
  page.evaluate<string>('document.activeElement?.ariaLabel ?? document.activeElement?.tagName');

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error('it is not seen');
  return box;
}

describe('the keyboard', () => {
  test('answers by a number at once, when it is nowhere else', async () => {
    const page = await ground.open('quiz-open');
    await page.keyboard.press('2');
    expect(await callsOf(page)).toEqual(['answer Jupiter']);
  });

  test('answers once: the first choice stands, by keys and by buttons', async () => {
    const page = await ground.open('quiz-open');
    await choice(page, 'Venus').click();
    await page.keyboard.press('1');
    await choice(page, 'Mars').click({ force: true });
    expect(await callsOf(page)).toEqual(['answer Venus']);
    expect(await choice(page, 'Venus').getAttribute('aria-pressed')).toBe('true');
    expect(await choice(page, 'Mars').getAttribute('aria-disabled')).toBe('true');
  });

  test('stays where somebody writes, and a number is written there', async () => {
    const page = await ground.open('live');
    const box = page.getByRole('textbox', { name: 'Write a message' });
    await box.fill('I say ');
    await asks(page);
    await card(page).waitFor();
    await page.keyboard.press('2');
    expect(await box.inputValue()).toBe('I say 2');
    expect(await callsOf(page)).toEqual([]);
  });

  test('gets to every choice by Tab, and stays on what it chose', async () => {
    const page = await ground.open('quiz-open');
    for (const name of ['Hide the quiz', 'Mars', 'Jupiter']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string>('document.activeElement.textContent')).toContain(name);
    }
    await page.keyboard.press('Enter');
    expect(await callsOf(page)).toEqual(['answer Jupiter']);
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('Jupiter');
  });

  test('is in the quiz when the choice that it was on makes way for the results', async () => {
    const page = await ground.open('quiz-open');
    await choice(page, 'Mars').press('Enter');
    await shows(page, {
      quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS },
    });
    await card(page).getByText('Not this time.').waitFor();
    expect(await activeName(page)).toBe('Quiz');
  });

  test('is where it was when the quiz is over', async () => {
    const page = await ground.open('live');
    const heart = page.getByRole('button', { name: 'Send a heart' });
    await heart.focus();
    await asks(page);
    await choice(page, 'Mars').press('Enter');
    await shows(page, { quiz: null });
    await card(page).waitFor({ state: 'detached' });
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain(
      'Send a heart',
    );
  });

  test('closes the winners by Escape', async () => {
    const page = await ground.open('winners-own');
    await page.getByRole('heading', { name: 'You have won!' }).waitFor();
    expect(await activeName(page)).toBe('Winners');
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
  });
});

describe('a choice', () => {
  test('that was not taken may be made again', async () => {
    const page = await ground.open('quiz-open');
    await page.evaluate('viewer.answer = () => Promise.reject(new Error("refused"))');
    await choice(page, 'Mars').click();
    await page.getByText('Your choice was not taken. Please choose again.').waitFor();
    expect(await choice(page, 'Mars').getAttribute('aria-disabled')).toBe('false');
  });

  test.each(['phone', 'turned'] as const)('is large enough for a finger: %s', async (screen) => {
    const page = await ground.open('quiz-open', screen);
    for (const button of await card(page).getByRole('button').all()) {
      expect((await boxOf(button)).height).toBeGreaterThanOrEqual(48);
    }
  });
});

describe('a sheet of a dark page', () => {
  test('can be read and used, put aside too', async () => {
    const page = await ground.open('quiz-open', 'phone', { colorScheme: 'dark' });
    expect(await faultsIn(page)).toEqual([]);
    await card(page).getByRole('button', { name: 'Hide the quiz' }).click();
    expect(await faultsIn(page)).toEqual([]);
    await card(page).getByRole('button', { name: 'Show the quiz' }).click();
    await choice(page, 'Mars').click();
    expect(await faultsIn(page)).toEqual([]);
    await shows(page, {
      quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS },
    });
    await card(page).getByText('Not this time.').waitFor();
    expect(await faultsIn(page)).toEqual([]);
  });
});

/** As iPhones do: what is seen of the window is less of it, and further down. */
const KEYBOARD_OVER_PAGE = `
  const seen = Object.assign(new EventTarget(), { height: innerHeight, offsetTop: 0, scale: 1 });
  Object.defineProperty(window, 'visualViewport', { value: seen });
  globalThis.keyboard = (px) => {
    Object.assign(seen, { height: innerHeight - px, offsetTop: px > 0 ? 100 : 0 });
    seen.dispatchEvent(new Event('resize'));
  };`;

describe('who writes on a phone', () => {
  const isSeen = (field: Locator) =>
    field.evaluate((box) => {
      const { left, top, width, height } = box.getBoundingClientRect();
      return box === box.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
    });

  test('sees the box when a quiz comes, and the quiz when the line is written', async () => {
    const page = await ground.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill('I say ');
    await asks(page);
    await card(page).getByRole('button', { name: 'Show the quiz' }).waitFor();
    expect(await isSeen(field)).toBe(true);
    await page.keyboard.type('so');
    expect(await field.inputValue()).toBe('I say so');
    await field.blur();
    await choice(page, 'Mars').tap();
    expect(await callsOf(page)).toEqual(['answer Mars']);
  });

  test('may look at the quiz at once, and go back to the line', async () => {
    const page = await ground.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.focus();
    await asks(page);
    await card(page).getByRole('button', { name: 'Show the quiz' }).tap();
    await choice(page, 'Mars').waitFor();
    expect(await isSeen(field)).toBe(false);
    await field.focus();
    await choice(page, 'Mars').waitFor({ state: 'detached' });
    expect(await isSeen(field)).toBe(true);
  });

  test('sees the box when winners come, and the winners when the line is written', async () => {
    const page = await ground.open('live', 'phone');
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.fill('I say ');
    await shows(page, { winners: { isWinning: null, hasWon: true, count: 12 } });
    await page.evaluate("viewer.tell('quiz-winners', { count: 12 })");
    const winners = page.getByRole('region', { name: 'Winners' });
    await winners.getByRole('heading', { name: 'You have won!' }).waitFor();
    expect(await isSeen(field)).toBe(true);
    expect(await faultsIn(page)).toEqual([]);
    await page.keyboard.type('so');
    expect(await field.inputValue()).toBe('I say so');
    await winners.getByRole('button', { name: 'Show the winners' }).tap();
    await winners.getByText('You are one of 12 winners.').waitFor();
    expect(await activeName(page)).toBe('Winners');
    await field.focus();
    await winners.getByRole('button', { name: 'Show the winners' }).waitFor();
    await field.blur();
    await winners.getByRole('button', { name: 'Close' }).tap();
    await winners.waitFor({ state: 'detached' });
  });

  test('sees the box and the quiz above a keyboard that lies over the page', async () => {
    const page = await ground.open('live', 'phone', { script: KEYBOARD_OVER_PAGE });
    const field = page.getByRole('textbox', { name: 'Write a message' });
    await field.focus();
    await page.evaluate('keyboard(336)');
    await asks(page);
    const shown = card(page).getByRole('button', { name: 'Show the quiz' });
    await shown.waitFor();
    // The window is 844 high, and moved by 100.
    for (const { y, height } of [await boxOf(field), await boxOf(shown)]) {
      expect(y).toBeGreaterThan(100);
      expect(y + height).toBeLessThan(844 - 336 + 100);
    }
    await page.evaluate('keyboard(0)');
    const { y, height } = await boxOf(field);
    expect(y + height).toBeGreaterThan(700);
  });

  test('can press what stands beside the box', async () => {
    const page = await ground.open('live', 'phone');
    await page.getByRole('textbox', { name: 'Write a message' }).focus();
    await asks(page);
    await card(page).getByRole('button', { name: 'Show the quiz' }).waitFor();
    await page.getByRole('button', { name: 'Send a heart' }).click();
    expect(await callsOf(page)).toEqual(['heart']);
  });
});

describe('the countdown', () => {
  test('ends the quiz when there is no time left', async () => {
    const page = await ground.open('quiz-open');
    await page.evaluate('viewer.setRemaining(300)');
    await card(page).getByText('Time is up').waitFor();
    await page.keyboard.press('1');
    expect(await callsOf(page)).toEqual([]);
  });
});

describe('screen readers', () => {
  test('hear the question, what became of the answer, and the winners', async () => {
    const page = await ground.open('quiz-open');
    const voice = page.locator('[aria-live="assertive"]');
    await voice.getByText(/^Quiz: Which planet .* 1: Mars, 2: Jupiter, 3: Venus\./).waitFor();
    await page.keyboard.press('2');
    await voice.getByText('Your answer counts.').waitFor();
    await shows(page, { quiz: null, winners: { isWinning: null, hasWon: true, count: 12 } });
    await page.evaluate("viewer.tell('quiz-winners', { count: 12 })");
    await voice.getByText('You have won! You are one of 12 winners.').waitFor();
  });
});

describe('what lies over the picture', () => {
  test.each(Object.keys(SCREENS) as (keyof typeof SCREENS)[])(
    'leaves the controls free, and can be put aside: %s',
    async (screen) => {
      const page = await ground.open('quiz-long', screen, { isPlaying: true });
      const controls = page.locator('media-control-bar');
      await controls.waitFor();
      const isBelow = async () => {
        const [quiz, bar] = await Promise.all([boxOf(card(page)), boxOf(controls)]);
        return quiz.y + quiz.height <= bar.y || quiz.y >= bar.y + bar.height;
      };
      expect(await isBelow()).toBe(true);
      const before = await boxOf(card(page));
      await card(page).getByRole('button', { name: 'Hide the quiz' }).click();
      expect((await boxOf(card(page))).height).toBeLessThan(before.height / 2);
      expect(await isBelow()).toBe(true);
      await card(page).getByRole('button', { name: 'Show the quiz' }).click();
      expect((await boxOf(card(page))).height).toBe(before.height);
    },
  );

  test.each(['quiz-short', 'quiz-results', 'winners-own', 'hearts'])(
    'stays where it is for who wants that: %s',
    async (scene) => {
      const page = await ground.open(scene, 'phone');
      await page.waitForFunction('viewer.snapshot.hearts === 900 || viewer.snapshot.hearts === 0');
      expect(await page.evaluate<number>('document.getAnimations().length')).toBe(0);
    },
  );

  test('is the winners instead of results, and a quiz that runs instead of winners', async () => {
    const page = await ground.open('quiz-results');
    await page.evaluate("viewer.tell('request-quiz-winners', null)");
    await page.getByRole('heading', { name: 'Who has won?' }).waitFor();
    await page.evaluate("viewer.tell('quiz', null)");
    await asks(page);
    await choice(page, 'Mars').waitFor();
    expect(await page.getByRole('region', { name: 'Winners' }).count()).toBe(0);
  });

  test('is not the results again when the winners are closed', async () => {
    const page = await ground.open('quiz-results');
    await page.evaluate("viewer.tell('quiz-winners', { count: 3 })");
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('region', { name: 'Winners' }).waitFor({ state: 'detached' });
    expect(await card(page).count()).toBe(0);
    // Somebody goes back to the quiz, and its results come another time.
    const snapshot = await page.evaluate<Snapshot>('viewer.snapshot');
    await shows(page, { quiz: null });
    await shows(page, { quiz: snapshot.quiz });
    await card(page).getByText('Results', { exact: true }).waitFor();
  });
});
