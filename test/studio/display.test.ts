import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { axeViolations } from '../support/player/axe.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// A show on the wall behind its host, and over a picture, as browsers show it that are signed in
// nowhere. Each test goes on where the one before stopped.

const SCREENS = {
  '1080p': { width: 1_920, height: 1_080 },
  '720p': { width: 1_280, height: 720 },
  portrait: { width: 1_080, height: 1_920 },
} as const;
const LOOKS = ['dark', 'light'] as const;
const SECRET_S = 2_500;

const LARGEST = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus', 'Earth'],
  answer: 'Jupiter',
};
const LONGEST = {
  question: 'Which of these, of all that were ever written, is the longest one? '.repeat(7).trim(),
  choices: Array.from({ length: 10 }, (_, n) => `${n} ${'and something more to read '.repeat(7)}`),
  answer: `0 ${'and something more to read '.repeat(7)}`,
};

let fixture: StudioFixture;
let owner: OpenedPage;
let wall: OpenedPage;
let overlay: OpenedPage;
let viewers: Viewer[];
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
}, 30_000);
afterAll(() => fixture?.close());

const heading = (page: Page) => page.getByRole('heading', { level: 1 });

async function send(quiz: object, duration: number, reveal: 'auto' | 'manual'): Promise<string> {
  const path = `/streams/${streamId}/quizzes`;
  const draft = await fixture.call<StudioQuiz>(owner, 'POST', path, { ...quiz, duration, reveal });
  await fixture.call(owner, 'POST', `/quizzes/${draft.id}/publish`);
  return draft.id;
}

/** All of it is on the screen, and can be read, at every size. */
async function expectWhole({ page }: OpenedPage, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    for (const colorScheme of LOOKS) {
      await page.emulateMedia({ colorScheme });
      await saveScreenshot(page, `wall-${name}-${screen}-${colorScheme}`);
    }
    expect([name, screen, await page.evaluate(CUT)]).toEqual([name, screen, []]);
  }
  // A size changes nothing of what axe sees.
  for (const colorScheme of LOOKS.toReversed()) {
    await page.emulateMedia({ colorScheme });
    expect([name, colorScheme, await axeViolations(page)]).toEqual([name, colorScheme, []]);
  }
  if (before) await page.setViewportSize(before);
}

/** What is not wholly on the screen, or in the scene around it. */
const CUT = `[...document.querySelectorAll('.display h1, .choice, .scene p, .display-foot > *')]
  .filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    const texts = document.createRange();
    texts.selectNodeContents(one);
    const { left, right } = texts.getBoundingClientRect();
    const around = (one.closest('.scene') ?? document.body).getBoundingClientRect();
    return top < around.top - 1 || left < around.left - 1 || right > around.right + 1
      || bottom > around.bottom + 1 || bottom > innerHeight + 1;
  })
  .map((one) => one.textContent)`;

/** How much is to be seen of each corner of a page, and of its lower part: 0 is nothing. */
async function opacities({ page }: OpenedPage): Promise<number[]> {
  const png = await page.screenshot({ omitBackground: true });
  const reader = await fixture.browser.newPage();
  const seen = await reader.evaluate<number[]>(`(async () => {
    const image = new Image();
    image.src = 'data:image/png;base64,${png.toString('base64')}';
    await image.decode();
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    return [[2, 2], [width - 3, 2], [2, height - 3], [width - 3, height - 3], [width / 2, height * 0.9]]
      .map(([x, y]) => canvas.getImageData(x, y, 1, 1).data[3]);
  })()`);
  await reader.close();
  return seen;
}

describe('the presenter view', () => {
  test('[B-11] has a link, which the page of the show makes and shows once', async () => {
    const { page } = owner;
    const stream = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
      title: 'Friday quiz night',
    });
    streamId = stream.id;
    await page.goto(`${fixture.url}/studio/streams/${streamId}`);
    await button(page, 'Make a link').click();
    const link = page.getByRole('dialog').locator('code');
    const plain = (await link.textContent()) ?? '';
    await page.getByText('Over a picture', { exact: true }).click();
    const transparent = (await link.textContent()) ?? '';
    await expectUsable(page, 'presenter-link');
    await button(page, 'Done').click();
    await button(page, 'New link').waitFor();
    expect(await page.content()).not.toContain('pk_');
    await expectUsable(page, 'presenter-card');
    wall = await fixture.open(plain, { viewport: SCREENS['1080p'], colorScheme: 'dark' });
    overlay = await fixture.open(transparent, { viewport: SCREENS['1080p'] });
    await wall.page.getByRole('heading', { name: 'Friday quiz night' }).waitFor();
    await expectWhole(wall, 'title');
  }, 60_000);

  test('[B-12] is not there for who has neither a key nor a session, and is for a member', async () => {
    const stranger = await fixture.open(`/studio/present/${streamId}`);
    await stranger.page.getByText(/Sign in to the studio in this browser/).waitFor();
    await expectWhole(stranger, 'refused');
    const wrong = await fixture.open(`/studio/present/${streamId}#key=pk_${'a'.repeat(40)}`);
    await wrong.page.getByText(/This link is not good any more/).waitFor();
    const member = await owner.context.newPage();
    await member.goto(`${fixture.url}/studio/present/${streamId}`);
    await member.getByRole('heading', { name: 'Friday quiz night' }).waitFor();
    await Promise.all([member.close(), wrong.context.close(), stranger.context.close()]);
  }, 60_000);

  test('[B-14] shows a quiz that is open, who watches and how many answered, and no bars', async () => {
    const { page } = wall;
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    viewers = ['one', 'two', 'three'].map((name) => fixture.watch(streamId, name));
    const live = await fixture.open(
      page.url().replace('#', '?bars=live#').replace(fixture.url, ''),
      {},
    );
    await page.getByText('3 watching').waitFor();
    const quizId = await send(LARGEST, 600_000, 'manual');
    await page.getByRole('heading', { name: LARGEST.question }).waitFor();
    await page.getByRole('timer').waitFor();
    for (const [at, viewer] of viewers.entries()) {
      await until('viewers have the quiz', () => viewer.quiz?.quiz.id === quizId);
      await viewer.answer(at === 0 ? 'Mars' : 'Jupiter');
    }
    await page.getByText('3 answers').waitFor();
    expect(await page.getByRole('listitem').allInnerTexts()).toEqual([
      '1\nMars',
      '2\nJupiter',
      '3\nVenus',
      '4\nEarth',
    ]);
    expect(await page.content()).not.toContain('right');
    await live.page.getByText('67 %').waitFor();
    expect(await live.page.locator('.choice--correct').count()).toBe(0);
    await saveScreenshot(live.page, 'wall-live-bars');
    await live.context.close();
    await expectWhole(wall, 'open');
  }, 90_000);

  test('[B-14] over a picture has nothing behind it', async () => {
    await heading(overlay.page).waitFor();
    for (const colorScheme of LOOKS) {
      await overlay.page.emulateMedia({ colorScheme });
      const [topLeft, topRight, bottomLeft, bottomRight, below = 0] = await opacities(overlay);
      const corners = [topLeft, topRight, bottomLeft, bottomRight];
      expect([colorScheme, corners]).toEqual([colorScheme, [0, 0, 0, 0]]);
      expect(below).toBeGreaterThan(200);
    }
    await expectWhole(overlay, 'overlay-open');
  }, 60_000);

  test('[B-14] shows nothing but a dot within 2 s of silence, and goes on by itself', async () => {
    const { page } = wall;
    await fixture.kill();
    await heading(page).waitFor({ state: 'detached', timeout: SECRET_S });
    expect(await page.locator('main').innerText()).not.toMatch(/planet|watching|answers/);
    expect(await page.locator('.display-dot').count()).toBe(1);
    await saveScreenshot(page, 'wall-silent');
    await fixture.restart();
    await page.getByRole('heading', { name: LARGEST.question }).waitFor({ timeout: 8_000 });
    await page.getByText('3 answers').waitFor();
    expect(await page.locator('.display-dot').count()).toBe(0);
  }, 60_000);

  test('[B-14] shows the results with the right answer, once they are revealed and not before', async () => {
    const { page } = wall;
    const quizId = await send({ ...LARGEST, question: 'And the largest moon?' }, 2_000, 'manual');
    await page.getByText('Time is up').waitFor();
    await until('the quiz is closed', async () => {
      const quiz = await fixture.call<StudioQuiz>(owner, 'GET', `/quizzes/${quizId}`);
      return quiz.state === 'closed';
    });
    await saveScreenshot(page, 'wall-closed');
    expect(await page.evaluate(CUT)).toEqual([]);
    expect(await page.locator('.choice--correct').count()).toBe(0);
    await fixture.call(owner, 'POST', `/quizzes/${quizId}/reveal`);
    const right = page.locator('.choice--correct');
    await right.waitFor();
    expect(await right.innerText()).toMatch(/^Jupiter\n?\s*\(right\)\n0 %$/);
    await expectWhole(wall, 'results');
    await overlay.page.locator('.choice--correct').waitFor();
    await expectWhole(overlay, 'overlay-results');
  }, 60_000);

  test('[B-14] has room for the longest quiz there can be, and for the winners', async () => {
    const other = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
      title: 'Long night',
    });
    streamId = other.id;
    const made = await fixture.call<{ url: string }>(
      owner,
      'POST',
      `/streams/${streamId}/presenter-key`,
    );
    const long = await fixture.open(made.url, { colorScheme: 'dark' });
    // In a game without quizzes everybody has won.
    const viewer = fixture.watch(streamId, 'four');
    await until('the viewer is there', () => viewer.state === 'live');
    await fixture.call(owner, 'POST', `/streams/${streamId}/request-winners`);
    await long.page.getByText('winner!').waitFor();
    expect(await heading(long.page).innerText()).toBe('1');
    await expectWhole(long, 'winners');
    await send(LONGEST, 600_000, 'auto');
    await heading(long.page).filter({ hasText: 'Which of these' }).waitFor();
    await expectWhole(long, 'longest');
    await fixture.call(owner, 'POST', `/streams/${streamId}/presenter-key`);
    await heading(long.page).waitFor({ state: 'detached' });
    expect((await long.page.locator('main').innerText()).replace('Full screen', '').trim()).toBe(
      '',
    );
    await long.context.close();
  }, 90_000);

  test('made no errors on the way', () => {
    expect([...owner.errors, ...display.errors, ...overlay.errors]).toEqual([]);
  });
});
