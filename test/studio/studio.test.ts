import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Viewer } from '../../sdk/viewer.ts';
import { type Opened, PASSWORD, StudioGround } from './studio-ground.ts';
import { button, expectGood, field, writeQuiz } from './studio-pages.ts';

// A whole show from the studio: an owner and a moderator at work, three who watch. Each test goes on
// where the one before stopped.

let ground: StudioGround;
let owner: Opened;
let moderator: Opened;
let viewers: Viewer[];
let streamId: string;

beforeAll(async () => {
  ground = await StudioGround.start();
}, 30_000);
afterAll(() => ground?.close());

async function expectRows(page: Page, count: number): Promise<void> {
  await page.getByRole('row').nth(count).waitFor({ state: 'detached' });
  expect(await page.getByRole('row').count()).toBe(count);
}

/** The events of one type that viewers were sent. */
async function sent(type: string): Promise<number> {
  const { page } = owner;
  const response = await page.request.get(
    `${ground.url}/studio/v1/streams/${streamId}/exports/feed`,
  );
  return (await response.text()).split(`"type":"${type}"`).length - 1;
}

describe('a show from the studio', () => {
  test('[U-15] [U-16] an owner comes by a link, chooses a password, and is in', async () => {
    owner = await ground.open(await ground.linkFor('ann@example.org'));
    const { page } = owner;
    await field(page, 'New password').waitFor();
    await expectGood(page, 'link');
    await field(page, 'Your name').fill('Ann');
    await field(page, 'New password').fill(PASSWORD);
    await page.getByRole('button', { name: /^(Keep it|Join)$/ }).click();
    await page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    expect(page.url()).not.toContain('#');
    await expectGood(page, 'shows-empty');
  }, 60_000);

  test('makes a show, and its place for the picture is there', async () => {
    const { page } = owner;
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('Friday quiz night');
    await expectGood(page, 'new-show');
    await button(page, 'Make it').click();
    await page.getByRole('heading', { name: 'Friday quiz night', level: 1 }).waitFor();
    streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByText('Waiting for a source.').waitFor();
    await expectGood(page, 'set-up');
  }, 60_000);

  test('writes quizzes; what is wrong is said, and nothing is lost by it', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Rundown' }).click();
    await page.getByText('No quizzes yet').waitFor();
    await button(page, 'New quiz').click();
    await field(page, 'Choice 1').fill('Mars');
    await button(page, 'Add it').click();
    await page.getByText('Say which choice is right.').waitFor();
    expect(await field(page, 'Choice 1').inputValue()).toBe('Mars');
    await expectGood(page, 'quiz-errors');
    await button(page, 'Cancel').click();
    await writeQuiz(page, 'Which planet is the largest?');
    await writeQuiz(page, 'Which one has a red spot?', { isByHand: true });
    await expectGood(page, 'rundown');
  }, 90_000);

  test('[D-3] [D-7] reads quizzes from a file, says what is wrong with one, and lays them out by keyboard', async () => {
    const { page } = owner;
    await button(page, 'Import').click();
    await field(page, 'Or paste its text').fill(
      'question,choice 1,choice 2,answer\nHow many moons?,One,Two,Three\n',
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page
      .getByRole('alert')
      .getByText(/line 2/i)
      .first()
      .waitFor();
    await expectGood(page, 'import-errors');
    await field(page, 'Or paste its text').fill(
      'question,choice 1,choice 2,answer\nHow many moons?,One,Two,Two\n',
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const rows = page.getByRole('row');
    await rows.nth(2).getByText('How many moons?').waitFor();
    // As by Tab and arrows: down to it, right to its handle; Enter lifts it, Home carries it to the
    // top, and Enter lets it go.
    await rows.nth(0).focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter'])
      await page.keyboard.press(key);
    await page.getByText(/Started dragging/).waitFor({ state: 'attached' });
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await rows.nth(0).getByText('How many moons?').waitFor();
    await page.reload();
    await rows.nth(0).getByText('How many moons?').waitFor();
    await expectGood(page, 'rundown-three');
    await rows
      .nth(0)
      .getByRole('button', { name: /What to do/ })
      .click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete').click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await expectRows(page, 2);
  }, 90_000);

  test('[U-9] [U-14] invites a moderator, who sees shows and not what is for owners', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Team' }).click();
    await button(page, 'Invite somebody').click();
    await field(page, 'E-mail').fill('mo@example.org');
    await page.getByRole('button', { name: /^Host/ }).click();
    await page.getByRole('option', { name: 'Moderator' }).click();
    await button(page, 'Make a link').click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    await button(page, 'Done').click();
    await page.getByText('mo@example.org').waitFor();
    await expectGood(page, 'team');
    moderator = await ground.open(new URL(link).pathname + new URL(link).hash);
    await field(moderator.page, 'Your name').fill('Mo');
    await field(moderator.page, 'New password').fill(PASSWORD);
    await button(moderator.page, 'Join').click();
    await moderator.page.getByRole('link', { name: /Friday quiz night/ }).click();
    expect(await moderator.page.getByRole('link', { name: 'API tokens' }).count()).toBe(0);
    for (const place of ['API tokens', 'You']) {
      await page.getByRole('link', { name: place, exact: true }).click();
      await page.getByRole('heading', { name: place, level: 1 }).waitFor();
      await expectGood(page, place.toLowerCase().replace(' ', '-'));
    }
  }, 90_000);

  test('[B-1] goes on air: both who are at work see who watches, exactly', async () => {
    const { page } = owner;
    await page.goto(`${ground.url}/studio/streams/${streamId}/on-air`);
    await moderator.page.getByRole('link', { name: 'On air' }).click();
    await button(page, 'Start the show').click();
    viewers = ['one', 'two', 'three'].map((name) => ground.watch(streamId, name));
    for (const at of [page, moderator.page]) {
      await at.getByText(/^3$/).first().waitFor();
    }
    expect(await moderator.page.getByRole('button', { name: 'Send this quiz' }).count()).toBe(0);
  }, 60_000);

  test('[B-7] a quiz is sent once, however often its button is pressed', async () => {
    const { page } = owner;
    await button(page, 'Send this quiz').click({ clickCount: 3 });
    await page.getByText(/^Open, \d s$/).waitFor();
    for (const [at, viewer] of viewers.entries()) {
      await waitFor(() => viewer.quiz !== null);
      expect(await viewer.answer(at === 0 ? 'Mars' : 'Jupiter')).toBe('counted');
    }
    // Both see the answers while they come; viewers do not.
    for (const at of [page, moderator.page]) await at.getByText('2 · 67 %').waitFor();
    expect(viewers[0]?.quiz?.results).toBeNull();
    await expectGood(page, 'on-air-quiz');
    await page.getByText('Results are shown').waitFor();
    await waitFor(() => viewers.every(({ quiz }) => quiz?.results !== null));
    expect(await sent('quiz')).toBe(1);
  }, 90_000);

  test('[B-7] the next is not sent by who presses twice to show results', async () => {
    const { page } = owner;
    await button(page, 'Send this quiz').click();
    await button(page, 'Show the results').waitFor({ timeout: 15_000 });
    await page.waitForTimeout(1_100);
    await button(page, 'Show the results').dblclick();
    await page.getByText('No quiz is prepared').waitFor();
    await page
      .getByText(/^Results: /)
      .nth(1)
      .waitFor();
    expect([await sent('quiz'), await sent('quiz-results')]).toEqual([2, 2]);
  }, 60_000);

  test('asks for the winners, and has their count a second later', async () => {
    const { page } = owner;
    await button(page, 'Ask for the winners').click();
    await page.getByText(/The last round had \d winners?/).waitFor();
    await waitFor(() => viewers.every((viewer) => viewer.snapshot.winners.count !== null));
    expect(await sent('request-quiz-winners')).toBe(1);
  }, 60_000);

  test('has what viewers say', async () => {
    const { page } = owner;
    await viewers[0]?.say('question', 'What comes next?');
    await viewers[1]?.say('message', 'Good evening!');
    await page.getByText('What comes next?').waitFor();
    await page.getByRole('tab', { name: 'Questions' }).click();
    await page.getByText('Good evening!').waitFor({ state: 'detached' });
    await expectGood(page, 'on-air');
  }, 90_000);

  test('[B-4] a line that is lost is said within 2 s, and all is right again within 2 s after it', async () => {
    const { page } = owner;
    await ground.kill();
    await page.getByText(/The line to the service is lost/).waitFor({ timeout: 2_500 });
    expect(await button(page, 'Ask for the winners').isDisabled()).toBe(true);
    await expectGood(page, 'lost');
    await ground.restart();
    const backMs = performance.now();
    await page.getByText(/The line to the service is lost/).waitFor({ state: 'detached' });
    expect(performance.now() - backMs).toBeLessThan(6_000);
    await page.getByText(/^3$/).first().waitFor();
    expect([await sent('quiz'), await sent('quiz-results')]).toEqual([2, 2]);
  }, 90_000);

  test('[B-8] [B-9] a page that is opened anew has what was sent before, and how many saw it', async () => {
    const { page } = owner;
    const { csrf } = await (await page.request.get(`${ground.url}/studio/v1/session`)).json();
    for (let n = 0; n < 55; n++) {
      await page.request.post(`${ground.url}/studio/v1/streams/${streamId}/events`, {
        headers: { 'X-CSRF-Token': csrf },
        data: { type: 'lights', data: null },
      });
    }
    const list = page.getByLabel('Sent events');
    await list.getByText('lights').nth(54).waitFor();
    const audience = page.waitForResponse(/\/audience\?to=/);
    await page.reload();
    await list.getByText('lights').nth(49).waitFor();
    expect(await list.getByText(/^Quiz: /).count()).toBe(0);
    await button(page, 'Earlier').click();
    await list
      .getByText(/^Quiz: /)
      .nth(1)
      .waitFor();
    await button(page, 'Earlier').waitFor({ state: 'detached' });
    expect(await list.getByText('lights').count()).toBe(55);
    expect(await list.getByText(/^Quiz: /).count()).toBe(2);
    expect((await audience).status()).toBe(200);
    await expectGood(page, 'on-air-anew');
  }, 90_000);

  test('[U-6] [U-8] who signs out everywhere is out in every window', async () => {
    const { page, context } = owner;
    const second = await context.newPage();
    await second.goto(`${ground.url}/studio/`);
    await second.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    await page.goto(`${ground.url}/studio/you`);
    await button(page, 'Everywhere').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectGood(page, 'sign-in');
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
  }, 60_000);

  test('made no errors on the way', () => {
    expect([...owner.errors, ...moderator.errors]).toEqual([]);
  });
});

async function waitFor(isSo: () => boolean): Promise<void> {
  const untilMs = performance.now() + 10_000;
  while (!isSo()) {
    if (performance.now() > untilMs) throw new Error('it did not come to that');
    await Bun.sleep(50);
  }
}
