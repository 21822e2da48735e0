import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import type { StudioQuiz, StudioStream, WinnersRound } from '../../protocol/studio.ts';
import { addPictureClock, overlaysOf, pictureMsOf } from '../support/player/picture-clock.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import {
  FAST_POLLING,
  type FeedEvent,
  ShowFixture,
  type WatchSession,
} from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// A whole show with two viewers, one on a phone and one on a desktop, checked with the studio API.
// Each test continues where the previous one ended.

// Screenshots of the steps go here, to look at; no test compares them.
const FOLDER = new URL('./pictures/show/', import.meta.url).pathname;
const SECOND = { question: 'Which of them has rings?', choices: ['Mars', 'Venus', 'Saturn'] };

let fixture: ShowFixture;
let streamId: string;
let phone: WatchSession;
let desktop: WatchSession;

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ recording: true, latencyAllowance: 2_500 });
  const prepare = async (context: BrowserContext) => {
    await context.addInitScript(FAST_POLLING);
    await addPictureClock(context);
  };
  [phone, desktop] = await Promise.all([
    fixture.watch(streamId, { ...SCREENS.phone, colorScheme: 'dark' }, prepare),
    fixture.watch(streamId, { ...SCREENS.desktop, colorScheme: 'light' }, prepare),
  ]);
}, 60_000);
afterAll(() => fixture?.close());

/** Waits until both viewers see an element. */
async function bothSee(locate: (page: Page) => Locator): Promise<void> {
  await Promise.all([phone, desktop].map(({ page }) => locate(page).waitFor()));
}

async function saveScreenshots(name: string): Promise<void> {
  await Promise.all([
    phone.page.screenshot({ path: `${FOLDER}${name}-phone.png` }),
    desktop.page.screenshot({ path: `${FOLDER}${name}-desktop.png` }),
  ]);
}

const chat = (page: Page) => page.getByRole('list', { name: 'Chat' });
const quiz = (page: Page) => page.getByRole('region', { name: 'Quiz' });
const noticeTitle = (page: Page, title: string) =>
  page.locator('.notice-title', { hasText: title });
const publishEvent = (type: string, data: unknown) =>
  fixture.studio('POST', `/streams/${streamId}/events`, { type, data });
const statusOf = async () =>
  (await fixture.studio<StudioStream>('GET', `/streams/${streamId}`)).status;
const publishedChats = async () => chatsIn(await fixture.feedEvents(streamId));

/** All chats of the feed, merged. */
function chatsIn(events: readonly FeedEvent[]) {
  const chats = events.filter(({ type }) => type === 'chats').map(({ data }) => data);
  type Chats = Record<'messages' | 'questions' | 'greetings' | 'purchases', { text: string }[]>;
  const all = chats as (Chats & { hearts: number; discounts: number })[];
  const textsOf = (kind: keyof Chats) =>
    all.flatMap((entry) => entry[kind].map(({ text }) => text));
  return {
    questions: textsOf('questions'),
    greetings: textsOf('greetings'),
    purchases: textsOf('purchases'),
    hearts: all.reduce((sum, { hearts }) => sum + hearts, 0),
    discounts: all.reduce((sum, { discounts }) => sum + discounts, 0),
  };
}

/** Seeks in a replay to 1.5 s (6 intervals) before an interval. */
async function seekBefore(page: Page, interval: number): Promise<void> {
  const pictureMs = await until('the video', () => pictureMsOf(page));
  const seconds = (intervalStartMs(interval - 6) - pictureMs) / 1_000;
  await page.evaluate(`document.querySelector('video').currentTime += ${seconds}`);
}

/** The counts of a revealed quiz by choice, from the studio API. */
async function countsOf(quizId: string): Promise<Record<string, number>> {
  const { state, counts } = await fixture.studio<StudioQuiz>('GET', `/quizzes/${quizId}`);
  expect(state).toBe('revealed');
  const all = Object.entries(counts ?? {});
  return Object.fromEntries(all.map(([choice, { count }]) => [choice, count]));
}

describe('a whole show, on a phone and on a desktop', () => {
  test('[S-4] viewers wait in the lobby before the show', async () => {
    await bothSee((page) => noticeTitle(page, 'The show has not started yet'));
    await bothSee((page) => page.locator('.audience-count', { hasText: '2 waiting' }));
    expect(await statusOf()).toBe('CREATED');
    await saveScreenshots('1-lobby');
  }, 20_000);

  test('[S-4] [M-8] the show starts with its source, with video and viewer count', async () => {
    await fixture.play(streamId, '640x360');
    await bothSee((page) => page.locator('.badge-status', { hasText: 'Live' }));
    for (const { page } of [phone, desktop]) {
      const first = await until('the video', () => pictureMsOf(page));
      await until('the next frame', async () => ((await pictureMsOf(page)) ?? 0) > first);
    }
    await bothSee((page) => page.locator('.audience-count', { hasText: '2 watching' }));
    expect(await statusOf()).toBe('STREAMING');
    await saveScreenshots('2-picture');
  }, 30_000);

  test('[C-1] each viewer reads the other’s messages', async () => {
    await phone.page.getByRole('radio', { name: 'Question' }).tap();
    await phone.page.getByRole('textbox', { name: 'Ask a question' }).fill('How hot is Venus?');
    await phone.page.getByRole('button', { name: 'Send', exact: true }).tap();
    await phone.page.getByLabel('Your name').fill('Ada');
    await phone.page.getByRole('button', { name: 'Continue' }).tap();
    await desktop.page.getByRole('radio', { name: 'Message' }).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Tab']) await desktop.page.keyboard.press(key);
    await desktop.page.keyboard.type('Hello from the desktop');
    await desktop.page.keyboard.press('Enter');
    await desktop.page.keyboard.type('Bo');
    await desktop.page.keyboard.press('Enter');
    await bothSee((page) => chat(page).getByText('Ada How hot is Venus?'));
    await bothSee((page) => chat(page).getByText('Bo Hello from the desktop'));
    expect(await publishedChats()).toMatchObject({
      questions: ['How hot is Venus?'],
      greetings: ['Hello from the desktop'],
    });
    await saveScreenshots('3-chat');
  }, 20_000);

  test('[C-9] [C-10] [P-24] both see the hearts of one viewer, and purchases and discounts as cards', async () => {
    for (let n = 0; n < 3; n++) {
      await phone.page.getByRole('button', { name: 'Send a heart' }).tap();
    }
    await publishEvent('purchase', { name: 'Cleo', text: 'bought two mugs' });
    await publishEvent('discount', { count: 2 });
    await bothSee((page) => page.locator('.audience-hearts', { hasText: '3' }));
    await saveScreenshots('4-hearts');
    await bothSee((page) => chat(page).getByText('Cleo bought two mugs'));
    await bothSee((page) => chat(page).getByText('2 used'));
    expect(await publishedChats()).toMatchObject({
      purchases: ['bought two mugs'],
      hearts: 3,
      discounts: 2,
    });
    await saveScreenshots('5-cards');
  }, 20_000);

  test('[Q-7] [Q-20] a quiz is answered by touch and by keyboard, and both answers are correct', async () => {
    // Number keys work only when no text field has the focus.
    await desktop.page.evaluate('document.activeElement.blur()');
    const { id } = await fixture.publishQuiz(streamId, { duration: 3_500 });
    await bothSee((page) => quiz(page).getByRole('heading', { name: 'Which planet' }));
    await saveScreenshots('6-quiz');
    await quiz(phone.page).getByRole('button', { name: 'Jupiter' }).tap();
    await desktop.page.keyboard.press('2');
    await bothSee((page) => quiz(page).getByText('Answer locked in!'));
    await saveScreenshots('7-answered');
    await bothSee((page) => quiz(page).getByText('Correct!'));
    await bothSee((page) => quiz(page).getByText('you can still win'));
    expect(await countsOf(id)).toEqual({ Mars: 0, Jupiter: 2, Venus: 0 });
    await saveScreenshots('8-results');
  }, 30_000);

  test('[Q-7] [Q-20] one viewer answers the next quiz wrong', async () => {
    const { id } = await fixture.publishQuiz(streamId, {
      ...SECOND,
      answer: 'Saturn',
      duration: 3_500,
    });
    await bothSee((page) => quiz(page).getByRole('heading', { name: SECOND.question }));
    await quiz(phone.page).getByRole('button', { name: 'Saturn' }).tap();
    await quiz(desktop.page).getByRole('button', { name: 'Mars' }).click();
    await bothSee((page) => quiz(page).getByText('Answer locked in!'));
    await quiz(phone.page).getByText('Correct!').waitFor();
    await quiz(desktop.page).getByText('Not this time.').waitFor();
    await quiz(desktop.page).getByText('You are out of this round.').waitFor();
    expect(await countsOf(id)).toEqual({ Mars: 1, Venus: 0, Saturn: 1 });
    await saveScreenshots('9-wrong');
  }, 30_000);

  test('[W-7] [W-8] the viewer with all answers correct wins, and the other does not', async () => {
    await fixture.studio('POST', `/streams/${streamId}/request-winners`);
    await phone.page.getByRole('heading', { name: 'You won!' }).waitFor();
    await desktop.page.getByRole('heading', { name: 'One viewer won.' }).waitFor();
    const { results } = await fixture.studio<{ results: WinnersRound[] }>(
      'GET',
      `/streams/${streamId}/winners-rounds`,
    );
    expect(results).toMatchObject([{ state: 'closed', quizzes: 2, count: 1 }]);
    expect(await fixture.exported(streamId, 'winners')).toHaveLength(1);
    await saveScreenshots('10-winners');
  }, 20_000);

  test('[S-4] the show ends for both viewers', async () => {
    await fixture.stopVideo();
    await fixture.studio('POST', `/streams/${streamId}/end`);
    await bothSee((page) => page.getByText('The show is over. The chat is closed.'));
    await bothSee((page) => page.locator('.audience-count', { hasText: '2 watching at peak' }));
    await phone.page.getByRole('button', { name: 'Close' }).tap();
    await bothSee((page) => noticeTitle(page, 'The show is over'));
    expect(await quiz(phone.page).count()).toBe(0);
    expect(await statusOf()).toBe('ENDED');
    await saveScreenshots('11-over');
    expect([...phone.errors, ...desktop.errors]).toEqual([]);
  }, 30_000);
});

test('[M-27] a replay has the chat and quizzes in sync with the video', async () => {
  const late = await fixture.watch(streamId, SCREENS.desktop, addPictureClock);
  const { page } = late;
  await page.locator('.badge-status', { hasText: 'Replay' }).waitFor();
  const events = await fixture.feedEvents(streamId);
  const intervalOf = (type: string, word: string) =>
    events.find((event) => event.type === type && JSON.stringify(event.data).includes(word))
      ?.interval ?? Number.NaN;
  const quizInterval = intervalOf('quiz', 'Jupiter');
  await seekBefore(page, intervalOf('chats', 'two mugs'));
  await chat(page).getByText('Cleo bought two mugs').waitFor();
  await quiz(page).waitFor();
  const [overlay] = await overlaysOf(page);
  const offIntervals = intervalAt(overlay?.pictureMs ?? 0) - quizInterval;
  console.log(`a quiz of the replay is ${offIntervals} intervals off its frame`);
  expect(Math.abs(offIntervals)).toBeLessThanOrEqual(1);
  await seekBefore(page, intervalOf('quiz-results', 'Jupiter'));
  await quiz(page).getByText('You did not answer this one.').waitFor();
  await page.screenshot({ path: `${FOLDER}12-replay-desktop.png` });
  expect(late.errors).toEqual([]);
}, 40_000);
