import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { axeViolations } from '../support/player/axe.ts';
import { COUNT_TONES } from '../support/player/count-tones.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';
import { notIsolated, wordsOf } from '../support/web/isolation.ts';
import { scanImage, scanQrCode } from '../support/web/qr-code.ts';

// The display of a show, on a screen on stage and as an overlay, in browsers without a session.
// Each test continues where the previous one stopped.

const SCREENS = {
  '1080p': { width: 1_920, height: 1_080 },
  '720p': { width: 1_280, height: 720 },
  portrait: { width: 1_080, height: 1_920 },
} as const;
const COLOR_SCHEMES = ['dark', 'light'] as const;
/** 2 s (SPEC B-14), and time for the browser to react. */
const HIDE_MS = 2_500;

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
let display: OpenedPage;
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

/** Checks that everything fits on the screen and is accessible at every size, light and dark. */
async function expectFits({ page }: OpenedPage, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await saveScreenshot(page, `display-${name}-${screen}-${colorScheme}`);
    }
    expect([name, screen, await measure(page, CUT_OFF)]).toEqual([name, screen, []]);
  }
  // axe findings do not depend on the size.
  for (const colorScheme of COLOR_SCHEMES.toReversed()) {
    await page.emulateMedia({ colorScheme });
    expect([name, colorScheme, await axeViolations(page)]).toEqual([name, colorScheme, []]);
  }
  if (before) await page.setViewportSize(before);
}

/** Texts that are cut off by the screen or their scene. */
const CUT_OFF = `[...document.querySelectorAll('.display h1, .choice, .scene p, .display-foot > *')]
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

/** Evaluates an expression when the page has fitted its content into the window. */
async function measure(page: Page, expression: string): Promise<unknown> {
  const frame = 'new Promise((resolve) => requestAnimationFrame(resolve))';
  await page.evaluate(`${frame}.then(() => ${frame})`);
  return page.evaluate(expression);
}

/** The words of the scene that are broken over two lines. */
const BROKEN_WORDS = `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.querySelector('.scene'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

/** Opacity of the corners of a page and of its lower part; 0 is transparent. */
async function opacities({ page }: OpenedPage): Promise<number[]> {
  const png = await page.screenshot({ omitBackground: true });
  const reader = await fixture.browser.newPage();
  const result = await reader.evaluate<number[]>(`(async () => {
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
  return result;
}

describe('the display', () => {
  test('[B-11] opens by a link that the studio shows once', async () => {
    const { page } = owner;
    const stream = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
      title: 'Friday quiz night',
    });
    streamId = stream.id;
    await page.goto(`${fixture.url}/studio/streams/${streamId}`);
    await button(page, 'Create link').click();
    const link = page.getByRole('dialog').locator('code');
    const plain = (await link.textContent()) ?? '';
    await page.getByText('Transparent background', { exact: true }).click();
    const transparent = (await link.textContent()) ?? '';
    await expectUsable(page, 'presenter-link');
    await button(page, 'Done').click();
    await button(page, 'Replace link').waitFor();
    expect(await page.content()).not.toContain('pk_');
    await expectUsable(page, 'presenter-card');
    display = await fixture.open(plain, { viewport: SCREENS['1080p'], colorScheme: 'dark' });
    overlay = await fixture.open(transparent, { viewport: SCREENS['1080p'] });
    await display.page.getByRole('heading', { name: 'Friday quiz night' }).waitFor();
    await expectFits(display, 'title');
  }, 60_000);

  test('[B-17] shows the viewer link as text and as a QR code until a quiz is on', async () => {
    const { page } = display;
    const url = `${fixture.url}/watch/${streamId}`;
    await page.getByText(url.replace('http://', ''), { exact: true }).waitFor();
    for (const [screen, size] of Object.entries(SCREENS)) {
      await page.setViewportSize(size);
      for (const colorScheme of COLOR_SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await measure(page, '0');
        const code = page.getByRole('img', { name: 'QR code of the viewer page' });
        expect([screen, colorScheme, await scanQrCode(code)]).toEqual([screen, colorScheme, url]);
      }
    }
    await page.setViewportSize(SCREENS['1080p']);
    expect(await overlay.page.getByRole('img').count()).toBe(0);
  }, 60_000);

  test('[B-17] the viewer link in set up is a QR code, also as files', async () => {
    const { page } = owner;
    const url = `${fixture.url}/watch/${streamId}`;
    const code = page.getByRole('img', { name: 'QR code of the viewer link' });
    await expectUsable(page, 'set-up-share');
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await scanQrCode(code)]).toEqual([colorScheme, url]);
    }
    for (const format of ['PNG', 'SVG']) {
      const started = page.waitForEvent('download');
      await page.getByRole('link', { name: `Download ${format}` }).click();
      const download = await started;
      expect(download.suggestedFilename()).toBe(
        `Friday quiz night QR code.${format.toLowerCase()}`,
      );
      const file = await Bun.file(await download.path()).bytes();
      const type = format === 'PNG' ? 'image/png' : 'image/svg+xml';
      expect([format, await scanImage(page.context(), file, type)]).toEqual([format, url]);
    }
  }, 60_000);

  test('[B-12] requires a key or a session', async () => {
    const stranger = await fixture.open(`/studio/present/${streamId}`);
    await stranger.page.getByText(/Sign in to the studio in this browser/).waitFor();
    await expectFits(stranger, 'refused');
    const link = `/studio/present/${streamId}#key=pk_${'a'.repeat(40)}`;
    const wrong = await fixture.open(link);
    await wrong.page.getByText(/This link no longer works/).waitFor();
    // Copied with the quotation mark that follows it, which no header can contain.
    const quoted = await fixture.open(`${link}”`);
    await quoted.page.getByText(/This link no longer works/).waitFor();
    await quoted.context.close();
    const member = await owner.context.newPage();
    await member.goto(`${fixture.url}/studio/present/${streamId}`);
    await member.getByRole('heading', { name: 'Friday quiz night' }).waitFor();
    await Promise.all([member.close(), wrong.context.close(), stranger.context.close()]);
  }, 60_000);

  test('[B-14] [B-18] shows an open quiz with audience and answer count, but no bars, and plays a sound', async () => {
    const { page } = display;
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    viewers = ['one', 'two', 'three'].map((name) => fixture.joinViewer(streamId, name));
    const live = await fixture.open(
      page.url().replace('#', '?bars=live#').replace(fixture.url, ''),
      {},
    );
    await page.getByText('3 watching').waitFor();
    await page.evaluate(COUNT_TONES);
    await page.mouse.move(10, 10);
    await page.getByRole('button', { name: 'Sounds' }).click();
    await until('the tone of the switch', async () => (await page.evaluate('tones')) === 1);
    await page.getByRole('img', { name: 'QR code of the viewer page' }).waitFor();
    const quizId = await send(LARGEST, 600_000, 'manual');
    await page.getByRole('heading', { name: LARGEST.question }).waitFor();
    await page.getByRole('timer').waitFor();
    await until('the tones of the quiz', async () => (await page.evaluate('tones')) === 3);
    expect(await page.getByRole('img', { name: 'QR code' }).count()).toBe(0);
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
    expect(await page.content()).not.toContain('correct');
    await live.page.getByText('67 %').waitFor();
    expect(await live.page.locator('.choice--correct').count()).toBe(0);
    await saveScreenshot(live.page, 'display-live-bars');
    await live.context.close();
    await expectFits(display, 'open');
  }, 90_000);

  test('[B-14] has a transparent background as an overlay', async () => {
    await heading(overlay.page).waitFor();
    for (const colorScheme of COLOR_SCHEMES) {
      await overlay.page.emulateMedia({ colorScheme });
      const [topLeft, topRight, bottomLeft, bottomRight, below = 0] = await opacities(overlay);
      const corners = [topLeft, topRight, bottomLeft, bottomRight];
      expect([colorScheme, corners]).toEqual([colorScheme, [0, 0, 0, 0]]);
      expect(below).toBeGreaterThan(200);
    }
    await expectFits(overlay, 'overlay-open');
  }, 60_000);

  test('[B-14] shows only a dot within 2 s of an outage, and recovers by itself', async () => {
    const { page } = display;
    await fixture.kill();
    await heading(page).waitFor({ state: 'detached', timeout: HIDE_MS });
    expect(await page.locator('main').innerText()).not.toMatch(/planet|watching|answers/);
    expect(await page.locator('.display-dot').count()).toBe(1);
    await saveScreenshot(page, 'display-silent');
    await fixture.restart();
    await page.getByRole('heading', { name: LARGEST.question }).waitFor({ timeout: 8_000 });
    await page.getByText('3 answers').waitFor();
    expect(await page.locator('.display-dot').count()).toBe(0);
  }, 60_000);

  test('[B-14] shows the results with the correct answer only after the reveal', async () => {
    const { page } = display;
    const quizId = await send({ ...LARGEST, question: 'And the largest moon?' }, 2_000, 'manual');
    await page.getByText('Time is up').waitFor();
    await until('the quiz is closed', async () => {
      const quiz = await fixture.call<StudioQuiz>(owner, 'GET', `/quizzes/${quizId}`);
      return quiz.state === 'closed';
    });
    await saveScreenshot(page, 'display-closed');
    expect(await measure(page, CUT_OFF)).toEqual([]);
    expect(await page.locator('.choice--correct').count()).toBe(0);
    await fixture.call(owner, 'POST', `/quizzes/${quizId}/reveal`);
    const right = page.locator('.choice--correct');
    await right.waitFor();
    expect(await right.innerText()).toMatch(/^Jupiter\n?\s*\(correct\)\n0 %$/);
    await expectFits(display, 'results');
    await overlay.page.locator('.choice--correct').waitFor();
    await expectFits(overlay, 'overlay-results');
  }, 60_000);

  test('[B-14] fits the longest quiz and the winners, and is empty once its link is replaced', async () => {
    const other = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
      title: 'Long night',
    });
    streamId = other.id;
    const created = await fixture.call<{ url: string }>(
      owner,
      'POST',
      `/streams/${streamId}/presenter-key`,
    );
    const long = await fixture.open(created.url, { colorScheme: 'dark' });
    // Without quizzes, every viewer wins.
    const viewer = fixture.joinViewer(streamId, 'four');
    await until('the viewer has joined', () => viewer.state === 'live');
    await fixture.call(owner, 'POST', `/streams/${streamId}/request-winners`);
    await long.page.getByText('The winner is').waitFor();
    expect(await heading(long.page).innerText()).toMatch(/^[A-Z]{4}-[2-9]{4}$/);
    await expectFits(long, 'winners');
    await send(LONGEST, 600_000, 'auto');
    await heading(long.page).filter({ hasText: 'Which of these' }).waitFor();
    await expectFits(long, 'longest');
    await fixture.call(owner, 'POST', `/streams/${streamId}/presenter-key`);
    await heading(long.page).waitFor({ state: 'detached' });
    expect(
      (await long.page.locator('main').innerText()).replace(/Sounds|Full screen/g, '').trim(),
    ).toBe('');
    await long.context.close();
  }, 90_000);

  test('[B-14] keeps words whole, and breaks only those that would be too small in one piece', async () => {
    const word = 'Rinderkennzeichnungsfleischetikettierungsüberwachungsaufgabe';
    const choices = [word, 'Rindfleischetikettierungsgesetz', 'Mars', 'Jupiter'];
    const endless = 'ha'.repeat(100);
    const other = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title: endless });
    streamId = other.id;
    const { page, context } = await fixture.open(`/studio/present/${streamId}`, {
      storageState: await owner.context.storageState(),
    });
    await heading(page).waitFor();
    expect(await measure(page, BROKEN_WORDS)).toEqual([endless]);
    expect(await measure(page, CUT_OFF)).toEqual([]);
    // The footer abbreviates a title that long.
    await fixture.call(owner, 'PATCH', `/streams/${streamId}`, { title: 'Long words' });
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    await send({ question: `What is a ${word}?`, choices, answer: word }, 600_000, 'manual');
    await heading(page).filter({ hasText: 'What is a' }).waitFor();
    for (const [screen, size] of Object.entries(SCREENS)) {
      await page.setViewportSize(size);
      await saveScreenshot(page, `display-words-${screen}`);
      const broken = screen === 'portrait' ? [`${word}?`] : [];
      expect([screen, await measure(page, BROKEN_WORDS)]).toEqual([screen, broken]);
      expect([screen, await measure(page, CUT_OFF)]).toEqual([screen, []]);
    }
    await context.close();
  }, 60_000);

  test('[B-14] isolates words from right to left', async () => {
    const title = wordsOf('title');
    const other = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title });
    streamId = other.id;
    const { page, context } = await fixture.open(`/studio/present/${streamId}`, {
      storageState: await owner.context.storageState(),
    });
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    const choices = [wordsOf('a'), wordsOf('b')];
    await send({ question: wordsOf('question'), choices, answer: wordsOf('a') }, 2_000, 'auto');
    await page.locator('.choice--correct').waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await context.close();
  }, 60_000);

  test('logged no errors', () => {
    expect([...owner.errors, ...display.errors, ...overlay.errors]).toEqual([]);
  });
});
