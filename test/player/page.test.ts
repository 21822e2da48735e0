import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { NO_SHOW_PAGE } from '../../protocol/show-page-values.ts';
import { QUIZ, RESULTS } from '../support/player/pages/fake-viewer.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import {
  callsOf,
  choiceOf,
  focusedName,
  openQuiz,
  quizOf,
  updateSnapshot,
} from '../support/player/scene-page.ts';

// The main flows of the watch page with a fake viewer. `*.full.test.ts` files have the rest.

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

const messageField = (page: Page) => page.getByRole('textbox', { name: 'Write a message' });
const chat = (page: Page) => page.getByRole('list', { name: 'Chat' });

describe('the chat form', () => {
  test('asks for a name once, with the first message, and stores it', async () => {
    const page = await fixture.open('live', 'phone');
    await messageField(page).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByLabel('Your name, shown with your messages').fill('  Ada ');
    await page.keyboard.press('Enter');
    await page.getByText('Posting as Ada').waitFor();
    expect(await callsOf(page)).toEqual(['sendMessage message Hello']);
    expect(await page.evaluate<string>('viewer.name')).toBe('Ada');
    expect(await page.evaluate<string>("localStorage.getItem('fourbeat-name')")).toBe('Ada');
    await messageField(page).fill('Again');
    await page.keyboard.press('Enter');
    await chat(page).getByText('Again').waitFor();
    expect(await callsOf(page)).toEqual(['sendMessage message Hello', 'sendMessage message Again']);
  });

  test('keeps the text and shows the reason, when a message is not accepted', async () => {
    const page = await fixture.open('chat-error');
    await messageField(page).fill('Too much');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Your message is not sent yet.').waitFor();
    await page.getByRole('timer').getByText('You can write again in 5 s.').waitFor();
    expect(await messageField(page).inputValue()).toBe('Too much');
  });
});

describe('the quiz', () => {
  test('is answered by a number key, when nothing else has the focus', async () => {
    const page = await fixture.open('quiz-open');
    await page.keyboard.press('2');
    expect(await callsOf(page)).toEqual(['answer Jupiter']);
  });

  test('keeps the focus when its results replace the focused choice', async () => {
    const page = await fixture.open('quiz-open');
    await choiceOf(page, 'Mars').press('Enter');
    await updateSnapshot(page, {
      quiz: { quiz: QUIZ, choice: 'Mars', outcome: 'counted', results: RESULTS },
    });
    await quizOf(page).getByText('Not this time.').waitFor();
    expect(await focusedName(page)).toBe('Quiz');
  });
});

describe('the quiz on a phone', () => {
  test('is answered while the viewer types, and the text field keeps its text and focus', async () => {
    const page = await fixture.open('live', 'phone');
    await messageField(page).fill('I say ');
    await openQuiz(page);
    await choiceOf(page, 'Mars').tap();
    expect(await callsOf(page)).toEqual(['answer Mars']);
    await page.keyboard.type('so');
    expect(await messageField(page).inputValue()).toBe('I say so');
    // The text field is not covered.
    await messageField(page).tap();
  });
});

describe('the stage', () => {
  test.each([
    ['unavailable', 'Cannot connect to the show'],
    ['unknown', 'Show not found'],
  ])('says why there is no show, in the scene %s', async (scene, title) => {
    const page = await fixture.open(scene, 'phone');
    await page.getByText(title).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  });
});

describe('a show with a page of its own', () => {
  test('[S-18] counts down to its start, while people chat', async () => {
    const page = await fixture.open('show-lobby', 'phone');
    await page.getByRole('heading', { name: 'The big autumn quiz night' }).waitFor();
    await page.getByRole('timer', { name: 'Time until the start' }).getByText('12:').waitFor();
    await page.getByText('Good evening 5!').waitFor();
    await messageField(page).waitFor();
    expect(await page.title()).toContain('The big autumn quiz night');
  });

  test.each([
    ['in the lobby', 'lobby'],
    ['during the show', 'live'],
  ])(
    '[S-18] appears %s when the service could not read it as it sent the page',
    async (_, scene) => {
      const script =
        'const { setInterval: every } = window;' +
        'window.setInterval = (run, ms) => every(run, ms > 20_000 ? 200 : ms);';
      const page = await fixture.open(scene, 'desktop', { script });
      expect(await page.title()).toBe('Fixture');
      const show = JSON.stringify({ ...NO_SHOW_PAGE, title: 'A late title', unlisted: false });
      await page.route('**/?scene=*', (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<div id="root" data-show='${show}'></div>`,
        }),
      );
      await page.waitForFunction("document.title === 'A late title'");
    },
  );

  test('[S-18] has no text field and nothing live once the stream has ended', async () => {
    const page = await fixture.open('show-live');
    await messageField(page).waitFor();
    await page.evaluate("viewer.show({ stream: { ...viewer.snapshot.stream, status: 'ENDED' } })");
    await page.getByText('The show is over. The chat is closed.').waitFor();
    expect(await messageField(page).count()).toBe(0);
    expect(await page.locator('media-live-button').count()).toBe(0);
  });
});
