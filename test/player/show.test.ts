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

// A whole show, as two people at home see it, one on a telephone and one on a desk, and as its
// producer finds it in the studio. Each test goes on where the one before has stopped.

// For people who look at them.
const FOLDER = new URL('./pictures/show/', import.meta.url).pathname;
const SECOND = { question: 'Which of them has rings?', choices: ['Mars', 'Venus', 'Saturn'] };

let fixture: ShowFixture;
let streamId: string;
let phone: WatchSession;
let desk: WatchSession;

beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ recording: true, latencyAllowance: 2_500 });
  const prepare = async (context: BrowserContext) => {
    await context.addInitScript(FAST_POLLING);
    await addPictureClock(context);
  };
  [phone, desk] = await Promise.all([
    fixture.watch(streamId, { ...SCREENS.phone, colorScheme: 'dark' }, prepare),
    fixture.watch(streamId, { ...SCREENS.desktop, colorScheme: 'light' }, prepare),
  ]);
}, 60_000);
afterAll(() => fixture?.close());

/** Both see it. */
async function see(locate: (page: Page) => Locator): Promise<void> {
  await Promise.all([phone, desk].map(({ page }) => locate(page).waitFor()));
}

async function keepPictures(name: string): Promise<void> {
  await Promise.all([
    phone.page.screenshot({ path: `${FOLDER}${name}-phone.png` }),
    desk.page.screenshot({ path: `${FOLDER}${name}-desk.png` }),
  ]);
}

const chat = (page: Page) => page.getByRole('list', { name: 'Chat' });
const quiz = (page: Page) => page.getByRole('region', { name: 'Quiz' });
const says = (page: Page, title: string) => page.locator('.notice-title', { hasText: title });
const happens = (type: string, data: unknown) =>
  fixture.studio('POST', `/streams/${streamId}/events`, { type, data });
const statusOf = async () =>
  (await fixture.studio<StudioStream>('GET', `/streams/${streamId}`)).status;
const chatsTold = async () => chatsIn(await fixture.feedEvents(streamId));

/** What the feed has told of the chat, all together. */
function chatsIn(events: readonly FeedEvent[]) {
  const chats = events.filter(({ type }) => type === 'chats').map(({ data }) => data);
  type Chats = Record<'messages' | 'questions' | 'greetings' | 'purchases', { text: string }[]>;
  const all = chats as (Chats & { hearts: number; discounts: number })[];
  const lines = (kind: keyof Chats) => all.flatMap((one) => one[kind].map(({ text }) => text));
  return {
    questions: lines('questions'),
    greetings: lines('greetings'),
    purchases: lines('purchases'),
    hearts: all.reduce((sum, { hearts }) => sum + hearts, 0),
    discounts: all.reduce((sum, { discounts }) => sum + discounts, 0),
  };
}

/** As a viewer does who looks for something in a show that is over. */
async function goToShortlyBefore(page: Page, interval: number): Promise<void> {
  const pictureMs = await until('the picture', () => pictureMsOf(page));
  const seconds = (intervalStartMs(interval - 6) - pictureMs) / 1_000;
  await page.evaluate(`document.querySelector('video').currentTime += ${seconds}`);
}

/** How many the studio has counted, by choice, once the quiz is revealed. */
async function countsOf(quizId: string): Promise<Record<string, number>> {
  const { state, counts } = await fixture.studio<StudioQuiz>('GET', `/quizzes/${quizId}`);
  expect(state).toBe('revealed');
  const all = Object.entries(counts ?? {});
  return Object.fromEntries(all.map(([choice, { count }]) => [choice, count]));
}

describe('a whole show, on a telephone and on a desk', () => {
  test('[S-4] before it begins, both wait for it', async () => {
    await see((page) => says(page, 'The show has not started yet'));
    await see((page) => page.locator('.notice-waiting', { hasText: '2 waiting' }));
    await see((page) => page.locator('.audience-count', { hasText: '2 waiting' }));
    expect(await statusOf()).toBe('CREATED');
    await keepPictures('1-lobby');
  }, 20_000);

  test('[S-4] [M-8] it begins by itself with its source, with picture and count', async () => {
    await fixture.play(streamId, '640x360');
    await see((page) => page.locator('.badge-status', { hasText: 'Live' }));
    for (const { page } of [phone, desk]) {
      const first = await until('the picture', () => pictureMsOf(page));
      await until('the next frame', async () => ((await pictureMsOf(page)) ?? 0) > first);
    }
    await see((page) => page.locator('.audience-count', { hasText: '2 watching' }));
    expect(await statusOf()).toBe('STREAMING');
    await keepPictures('2-picture');
  }, 30_000);

  test('[C-1] each reads what the other writes', async () => {
    await phone.page.getByRole('radio', { name: 'Question' }).tap();
    await phone.page.getByRole('textbox', { name: 'Ask a question' }).fill('How hot is Venus?');
    await phone.page.getByRole('button', { name: 'Send', exact: true }).tap();
    await phone.page.getByLabel('Your name').fill('Ada');
    await phone.page.getByRole('button', { name: 'Continue' }).tap();
    await desk.page.getByRole('radio', { name: 'Message' }).focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Tab']) await desk.page.keyboard.press(key);
    await desk.page.keyboard.type('Hello from the desk');
    await desk.page.keyboard.press('Enter');
    await desk.page.keyboard.type('Bo');
    await desk.page.keyboard.press('Enter');
    await see((page) => chat(page).getByText('Ada How hot is Venus?'));
    await see((page) => chat(page).getByText('Bo Hello from the desk'));
    expect(await chatsTold()).toMatchObject({
      questions: ['How hot is Venus?'],
      greetings: ['Hello from the desk'],
    });
    await keepPictures('3-chat');
  }, 20_000);

  test('[C-9] [C-10] [P-24] hearts of one fly for both, and purchases and discounts are cards', async () => {
    for (let n = 0; n < 3; n++) {
      await phone.page.getByRole('button', { name: 'Send a heart' }).tap();
    }
    await happens('purchase', { name: 'Cleo', text: 'bought two mugs' });
    await happens('discount', { count: 2 });
    await see((page) => page.locator('.audience-hearts', { hasText: '3' }));
    await keepPictures('4-hearts');
    await see((page) => chat(page).getByText('Cleo bought two mugs'));
    await see((page) => chat(page).getByText('2 used'));
    expect(await chatsTold()).toMatchObject({
      purchases: ['bought two mugs'],
      hearts: 3,
      discounts: 2,
    });
    await keepPictures('5-cards');
  }, 20_000);

  test('[Q-7] [Q-20] a quiz is answered by touch and by keyboard, and both were right', async () => {
    // The keyboard is nowhere else.
    await desk.page.evaluate('document.activeElement.blur()');
    const { id } = await fixture.publishQuiz(streamId, { duration: 3_500 });
    await see((page) => quiz(page).getByRole('heading', { name: 'Which planet' }));
    await keepPictures('6-quiz');
    await quiz(phone.page).getByRole('button', { name: 'Jupiter' }).tap();
    await desk.page.keyboard.press('2');
    await see((page) => quiz(page).getByText('Your answer counts.'));
    await keepPictures('7-answered');
    await see((page) => quiz(page).getByText('Correct!'));
    await see((page) => quiz(page).getByText('you can still win'));
    expect(await countsOf(id)).toEqual({ Mars: 0, Jupiter: 2, Venus: 0 });
    await keepPictures('8-results');
  }, 30_000);

  test('[Q-7] [Q-20] the next one is wrong for one of them', async () => {
    const { id } = await fixture.publishQuiz(streamId, {
      ...SECOND,
      answer: 'Saturn',
      duration: 3_500,
    });
    await see((page) => quiz(page).getByRole('heading', { name: SECOND.question }));
    await quiz(phone.page).getByRole('button', { name: 'Saturn' }).tap();
    await quiz(desk.page).getByRole('button', { name: 'Mars' }).click();
    await see((page) => quiz(page).getByText('Your answer counts.'));
    await quiz(phone.page).getByText('Correct!').waitFor();
    await quiz(desk.page).getByText('Not this time.').waitFor();
    await quiz(desk.page).getByText('You are out of this round.').waitFor();
    expect(await countsOf(id)).toEqual({ Mars: 1, Venus: 0, Saturn: 1 });
    await keepPictures('9-wrong');
  }, 30_000);

  test('[W-7] [W-8] who answered everything has won, and the other has not', async () => {
    await fixture.studio('POST', `/streams/${streamId}/request-winners`);
    await phone.page.getByRole('heading', { name: 'You won!' }).waitFor();
    await desk.page.getByRole('heading', { name: 'One viewer won.' }).waitFor();
    const { results } = await fixture.studio<{ results: WinnersRound[] }>(
      'GET',
      `/streams/${streamId}/winners-rounds`,
    );
    expect(results).toMatchObject([{ state: 'closed', quizzes: 2, count: 1 }]);
    expect(await fixture.exported(streamId, 'winners')).toHaveLength(1);
    await keepPictures('10-winners');
  }, 20_000);

  test('[S-4] it ends for both', async () => {
    await fixture.stopVideo();
    await fixture.studio('POST', `/streams/${streamId}/end`);
    await see((page) => page.getByText('The show is over. The chat is closed.'));
    await see((page) => page.locator('.audience-count', { hasText: '2 watching at peak' }));
    await phone.page.getByRole('button', { name: 'Close' }).tap();
    await see((page) => says(page, 'The show is over'));
    expect(await quiz(phone.page).count()).toBe(0);
    expect(await statusOf()).toBe('ENDED');
    await keepPictures('11-over');
    expect([...phone.errors, ...desk.errors]).toEqual([]);
  }, 30_000);
});

test('[M-27] whoever comes later sees it with its chat and quizzes in step', async () => {
  const late = await fixture.watch(streamId, SCREENS.desktop, addPictureClock);
  const { page } = late;
  await page.locator('.badge-status', { hasText: 'Replay' }).waitFor();
  const told = await fixture.feedEvents(streamId);
  const intervalOf = (type: string, word: string) =>
    told.find((event) => event.type === type && JSON.stringify(event.data).includes(word))
      ?.interval ?? Number.NaN;
  const asked = intervalOf('quiz', 'Jupiter');
  await goToShortlyBefore(page, intervalOf('chats', 'two mugs'));
  await chat(page).getByText('Cleo bought two mugs').waitFor();
  await quiz(page).waitFor();
  const [overlay] = await overlaysOf(page);
  const off = intervalAt(overlay?.pictureMs ?? 0) - asked;
  console.log(`a quiz of the replay is ${off} intervals off its frame`);
  expect(Math.abs(off)).toBeLessThanOrEqual(1);
  await goToShortlyBefore(page, intervalOf('quiz-results', 'Jupiter'));
  await quiz(page).getByText('You did not answer this one.').waitFor();
  await page.screenshot({ path: `${FOLDER}12-replay-desk.png` });
  expect(late.errors).toEqual([]);
}, 40_000);
