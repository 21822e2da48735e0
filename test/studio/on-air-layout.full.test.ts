import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { type DemoVideo, startVideo } from '../../demo/children.ts';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { InterruptibleProxy } from '../support/studio/interruptible-proxy.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// What a host needs for the next minute is on the first screen of the on-air page, and stays in its
// place. Each test continues where the previous one stopped.

const SIZES = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 844 },
] as const;
/** Too low for a menu above or below its button. */
const LOW_WINDOW = { width: 1_280, height: 300 };
/** A chat log of this height has room for about three messages. */
const LOG_HEIGHT_MIN_PX = 140;

let fixture: StudioFixture;
let proxy: InterruptibleProxy;
let owner: OpenedPage;
let show: StudioStream;
let quizzes: readonly StudioQuiz[];
let video: DemoVideo | null = null;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  proxy = await InterruptibleProxy.to(Number(new URL(fixture.url).port));
  owner = await fixture.openOwner();
  // A quiz is open for longer than the measurements take.
  const settings = { title: 'Friday quiz night', latencyAllowance: 0 };
  show = await fixture.call<StudioStream>(owner, 'POST', '/streams', settings);
  for (const question of ['Which planet is the largest of all the planets?', 'And the smallest?']) {
    const quiz = { ...QUIZ, question, duration: 10_000, reveal: 'manual' };
    await fixture.call(owner, 'POST', `/streams/${show.id}/quizzes`, quiz);
  }
  const path = `/streams/${show.id}/quizzes`;
  quizzes = (await fixture.call<{ results: StudioQuiz[] }>(owner, 'GET', path)).results;
}, 60_000);
afterAll(async () => {
  await video?.stop();
  proxy?.close();
  await fixture?.close();
});

const call = (path: string, body?: object) => fixture.call(owner, 'POST', path, body);
const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** What a host needs for the next minute. */
const partsOf = (page: Page): Readonly<Record<string, Locator>> => ({
  video: panel(page, 'Video'),
  count: panel(page, 'Audience'),
  next: panel(page, 'Next'),
  action: panel(page, 'Next').getByRole('button').first(),
  quiz: panel(page, 'On screen'),
  chat: panel(page, 'Chat'),
  log: page.getByLabel('Messages, newest first'),
  end: page.getByRole('button', { name: /^End the (show|rehearsal)$/ }),
});

type Boxes = Record<string, { readonly x: number; readonly y: number; readonly width: number }>;

/** The boxes of all parts, after a check that they are on the first screen. */
async function boxesOf(page: Page, state: string, width: number): Promise<Boxes> {
  await page.evaluate('scrollTo(0, 0)');
  const bottom = await page.evaluate<number>(
    `Math.min(innerHeight, ...[...document.querySelectorAll('header')]
      .filter((header) => getComputedStyle(header).position === 'fixed')
      .map((header) => header.getBoundingClientRect().top))`,
  );
  const boxes: Boxes = {};
  for (const [name, locator] of Object.entries(partsOf(page))) {
    const box = await locator.boundingBox();
    const isOnScreen =
      box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.height > 0;
    expect([state, width, name, isOnScreen]).toEqual([state, width, name, true]);
    if (!box) continue;
    expect([state, width, name, Math.max(bottom, box.y + box.height)]).toEqual([
      state,
      width,
      name,
      bottom,
    ]);
    boxes[name] = box;
  }
  const logHeightPx = (await partsOf(page).log?.boundingBox())?.height;
  expect(logHeightPx).toBeGreaterThanOrEqual(LOG_HEIGHT_MIN_PX);
  return boxes;
}

/** The boxes of the first state at each size, which all other states have to keep. */
const expected = new Map<string, Boxes>();

/** Checks that nothing moved since the first state of this kind of show. */
async function expectInPlace(state: string, kind = 'show'): Promise<void> {
  const { page } = owner;
  for (const size of SIZES) {
    await page.setViewportSize(size);
    const boxes = await boxesOf(page, state, size.width);
    const key = `${kind} ${size.width}`;
    if (!expected.has(key)) expected.set(key, boxes);
    expect([state, size.width, boxes]).toEqual([state, size.width, expected.get(key) as Boxes]);
    await saveScreenshot(page, `glance-${state}-${size.width}-light`);
  }
}

async function saveDark(state: string): Promise<void> {
  await owner.page.emulateMedia({ colorScheme: 'dark' });
  for (const size of SIZES) {
    await owner.page.setViewportSize(size);
    await saveScreenshot(owner.page, `glance-${state}-${size.width}-dark`);
  }
  await owner.page.emulateMedia({ colorScheme: 'light' });
}

describe('[B-16] the first screen of the on-air page', () => {
  test('has all that a host needs, before the first quiz', async () => {
    const { page } = owner;
    await call(`/streams/${show.id}/start`);
    const viewer = fixture.joinViewer(show.id, 'Ada');
    await until('the viewer is live', () => viewer.state === 'live');
    for (const text of ['Good evening!', 'Hello from Bern', 'Is there a break?', 'Go, team!']) {
      await viewer.sendMessage('message', text);
    }
    await page.goto(`${proxy.url}/studio/streams/${show.id}/on-air`);
    await button(page, 'Send this quiz').and(page.locator(':enabled')).waitFor();
    await partsOf(page).log?.getByText('Go, team!').waitFor();
    const keys = await button(page, 'Send this quiz').getAttribute('aria-keyshortcuts');
    expect(keys).toBe('Control+Enter');
    await expectInPlace('no-quiz');
  }, 60_000);

  test('stays in place when a quiz opens, closes and is revealed', async () => {
    const { page } = owner;
    await call(`/quizzes/${quizzes[0]?.id}/publish`);
    await page.getByText(/^Open, \d+ s$/).waitFor();
    await expectInPlace('open');
    const question = await panel(page, 'On screen')
      .locator('p', { hasText: 'planet' })
      .boundingBox();
    expect(question?.height).toBeGreaterThanOrEqual(16);
    await page.getByText('Closed, results hidden').waitFor();
    await expectInPlace('closed');
    await saveDark('closed');
    await call(`/quizzes/${quizzes[0]?.id}/reveal`);
    await page.getByText('Results shown').waitFor();
    await button(page, 'Send this quiz').and(page.locator(':enabled')).waitFor();
    await expectInPlace('revealed');
    await expectUsable(page, 'on-air-glance');
  }, 90_000);

  test('stays in place when winners are announced and no quiz is left', async () => {
    const { page } = owner;
    await call(`/streams/${show.id}/request-winners`);
    await page.getByText(/^The last round had/).waitFor();
    await expectInPlace('winners');
    // A game without quizzes: everyone wins.
    await call(`/streams/${show.id}/request-winners`);
    await panel(page, 'On screen').getByText('Ada', { exact: true }).waitFor();
    await expectInPlace('winner');
    await expectUsable(page, 'on-air-winner');
    await call(`/quizzes/${quizzes[1]?.id}/publish`);
    await page.getByText('Closed, results hidden').waitFor();
    await call(`/quizzes/${quizzes[1]?.id}/reveal`);
    await button(page, 'Add quiz').waitFor();
    await expectInPlace('no-drafts');
  }, 60_000);

  test('stays in place while the connection is lost', async () => {
    const { page } = owner;
    proxy.interrupt();
    await page.getByText(/Connection lost/).waitFor();
    await expectInPlace('connection-lost');
    proxy.restore();
    await page.getByText(/Connection lost/).waitFor({ state: 'detached' });
  }, 60_000);

  test('[M-7] stays in place when the video source comes and is lost', async () => {
    const { page } = owner;
    video = startVideo(fixture.url, fixture.data, show.id);
    await page.locator('video').waitFor({ timeout: 30_000 });
    await expectInPlace('source');
    await video.stop();
    await button(page, 'Keep the show open').waitFor();
    await expectInPlace('source-lost');
    await saveDark('source-lost');
    for (const size of SIZES) {
      await page.setViewportSize(size);
      const keep = await button(page, 'Keep the show open').boundingBox();
      const slot = await panel(page, 'Video').boundingBox();
      // The button is within its panel, which does not scroll.
      expect((keep?.y ?? 0) + (keep?.height ?? 0)).toBeLessThanOrEqual(
        (slot?.y ?? 0) + (slot?.height ?? 0) + 1,
      );
    }
    await expectUsable(page, 'on-air-source-lost');
  }, 90_000);

  test('of a rehearsal has the same parts, in place, and says what it is', async () => {
    const { page } = owner;
    const next = await fixture.call<StudioStream>(owner, 'POST', '/streams', {
      title: 'Next week',
    });
    await call(`/streams/${next.id}/quizzes`, { ...QUIZ, duration: 10_000, reveal: 'auto' });
    const body = { viewers: 1, latencyMs: 0 };
    const path = `/streams/${next.id}/rehearsals`;
    const { streamId } = await fixture.call<{ streamId: string }>(owner, 'POST', path, body);
    await page.goto(`${proxy.url}/studio/streams/${streamId}/on-air`);
    await button(page, 'Start the show').click();
    const send = button(page, 'Send this quiz').and(page.locator(':enabled'));
    await send.waitFor();
    await expectInPlace('rehearsal', 'rehearsal');
    await saveDark('rehearsal');
    await send.click();
    await page.getByText(/^Open, \d+ s$/).waitFor();
    await expectInPlace('rehearsal-open', 'rehearsal');
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await panel(page, 'Audience').getByText('in rehearsal').waitFor();
      const banner = page.getByText('Rehearsal: not visible to the public.');
      expect((await banner.boundingBox())?.y).toBeLessThan(size.height / 3);
    }
  }, 90_000);
});

describe('a chat message of the on-air page', () => {
  test.each(['center', 'end'])(
    'at the %s of a low window has a menu that is all visible, and not under the pointer',
    async (block) => {
      const { page } = owner;
      await page.setViewportSize(LOW_WINDOW);
      await page.goto(`${proxy.url}/studio/streams/${show.id}/on-air`);
      const trigger = page.getByRole('button', { name: /^Actions for/ }).first();
      await trigger.waitFor();
      await page.evaluate(
        `document.querySelector('[aria-label^="Actions for"]').scrollIntoView({ block: '${block}' })`,
      );
      const box = await trigger.boundingBox();
      if (!box) throw new Error('no menu button');
      const pointer = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      await page.mouse.click(pointer.x, pointer.y);
      const menu = page.getByRole('menu');
      await menu.waitFor();
      const isUnder = await page.evaluate<boolean>(
        `document.elementFromPoint(${pointer.x}, ${pointer.y}).closest('[role=menu]') !== null`,
      );
      expect(isUnder).toBe(false);
      const shown = await menu.boundingBox();
      expect(shown?.y).toBeGreaterThanOrEqual(0);
      expect((shown?.y ?? 0) + (shown?.height ?? 0)).toBeLessThanOrEqual(LOW_WINDOW.height);
      await page.keyboard.press('Escape');
    },
    60_000,
  );
});

test('buttons name their keys for assistive technology', async () => {
  const { page } = owner;
  await page.goto(`${proxy.url}/studio/streams/${show.id}/on-air`);
  const shortcuts = button(page, 'Shortcuts');
  await shortcuts.waitFor();
  expect(await shortcuts.getAttribute('aria-keyshortcuts')).toBe('?');
});

test('the page logged no errors', () => {
  expect(owner.errors).toEqual([]);
});
