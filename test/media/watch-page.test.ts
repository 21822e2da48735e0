import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Server, Subprocess } from 'bun';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { watchRoutes } from '../../server/web/watch-page.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { endOf, quit, startMedia } from '../support/media/live-fixture.ts';
import { playTestPicture } from '../support/media/test-source.ts';
import { until } from '../support/until.ts';

// The page that shows a stream, on a telephone and on a desk.

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DESK = { viewport: { width: 1_280, height: 800 } };
const LOOKS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['desk-dark', { ...DESK, colorScheme: 'dark' }],
];
const COUNT_SHIFTS = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) globalThis.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;
// What strict browsers do: no sound before a key was pressed.
const REFUSE_SOUND = `
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = async function () {
    if (!this.muted) throw new DOMException('not yet', 'NotAllowedError');
    return play.call(this);
  };`;
const MEASURED = '[shift, document.documentElement.scrollWidth - innerWidth]';
const VIDEO = "document.querySelector('video')";
// What a browser says by itself of an answer that a page expects.
const EXPECTED = /^Failed to load resource: /;

// Where pictures of all states are left, for people who look at them; without it there are none.
const PICTURES = process.env.FOURBEAT_TEST_PICTURES;

let service: Harness;
/** The service with its page, which the program adds. */
let front: Server<undefined>;
let browser: Browser;
let recorded: string;
let live: string;
let source: Subprocess;

beforeAll(async () => {
  browser = await launchBrowser();
  service = await startMedia({ media: { segmentMs: 500 } });
  front = openFront(0);
  recorded = await service.createStream({ recording: true });
  const recording = await playTestPicture(service, recorded);
  await Bun.sleep(1_000);
  await happens(recorded, 'mark');
  await Bun.sleep(4_000);
  await quit(recording);
  await endOf(service, recorded);
  live = await service.createStream();
  source = await playTestPicture(service, live);
}, 60_000);
afterAll(async () => {
  source?.kill();
  await browser?.close();
  await front?.stop(true);
  await service?.close();
});

function openFront(port: number): Server<undefined> {
  const log = { requestId: () => 'request', broken: () => {} };
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    routes: watchRoutes({ corsOrigin: '*', log }),
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(service.url + pathname + search, request), { decompress: false });
    },
  });
}

/** An event of a producer's own. */
async function happens(streamId: string, type: string): Promise<void> {
  const event = { type, data: {} };
  await expectJson(await service.studio('POST', `/streams/${streamId}/events`, event), 201);
}

async function keepPicture(page: Page, name: string): Promise<void> {
  if (PICTURES) await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
}

interface Opened {
  readonly page: Page;
  /** What the page got wrong. */
  readonly errors: string[];
  close(name?: string): Promise<void>;
}

async function openPage(
  streamId: string,
  options: BrowserContextOptions = {},
  script = '',
): Promise<Opened> {
  const context = await browser.newContext(options);
  await context.addInitScript(script + COUNT_SHIFTS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${front.url.origin}/watch/${streamId}?facts`);
  return {
    page,
    errors,
    async close(name) {
      const [shift, tooWide] = await page.evaluate<[number, number]>(MEASURED);
      if (name) await keepPicture(page, name);
      expect(errors).toEqual([]);
      // Nothing jumps, and nothing is wider than the screen.
      expect(shift).toBeLessThan(0.05);
      expect(tooWide).toBeLessThanOrEqual(0);
      await context.close();
    },
  };
}

const says = (page: Page, title: string) =>
  page.locator('.notice-title', { hasText: title }).waitFor({ timeout: 10_000 });
const saysNothing = async (page: Page) =>
  expect(await page.locator('.notice-title').count()).toBe(0);
const statusOf = (page: Page) => page.locator('.badge-status').textContent();
/** A line of the facts about picture and feed. */
const fact = (page: Page, id: string) => page.locator(`#fact-${id}`).textContent();
const factNumber = async (page: Page, id: string) =>
  Number.parseInt((await fact(page, id)) ?? '', 10);
const plays = (page: Page) =>
  until('the picture', async () => (await factNumber(page, 'screen')) > 0);
/** The event of this type that is on screen. @returns its interval */
const seen = (page: Page, type: string) =>
  until(type, async () => {
    const text = await fact(page, 'event');
    return text?.endsWith(` ${type}`) ? Number.parseInt(text, 10) : null;
  });

describe.each(LOOKS)('%s', (look, options) => {
  test('[M-45] before the show it says so', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await says(page, 'The show has not begun');
    expect(await statusOf(page)).toBe('Not started');
    await page.locator('.notice-waiting', { hasText: '1' }).waitFor();
    await close(`${look}-lobby`);
  }, 20_000);

  test('[M-45] a show without a picture is waited for', async () => {
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/start`);
    const { page, close } = await openPage(streamId, options);
    await says(page, 'Waiting for the picture …');
    expect(await statusOf(page)).toBe('Live');
    // What happens is shown all the same.
    await happens(streamId, 'mark');
    await seen(page, 'mark');
    await close(`${look}-waiting`);
  }, 20_000);

  test('[M-12] [M-45] the picture plays, and what happens is shown when it is on screen', async () => {
    const { page, close } = await openPage(live, options);
    await plays(page);
    await saysNothing(page);
    expect(await statusOf(page)).toBe('Live');
    const type = `mark-${look}`;
    await happens(live, type);
    const interval = await seen(page, type);
    const onScreen = await factNumber(page, 'screen');
    expect(onScreen - interval).toBeWithin(0, 4);
    expect((await factNumber(page, 'feed')) - interval).toBeWithin(0, 4);
    // The service was told of it long before.
    expect((await factNumber(page, 'now')) - interval).toBeGreaterThan(3);
    await close(`${look}-live`);
  }, 30_000);

  test('[M-27] a show that is over is seen again, with its feed in step', async () => {
    const { page, close } = await openPage(recorded, options);
    await plays(page);
    expect(await statusOf(page)).toBe('Replay');
    const interval = await seen(page, 'mark');
    expect((await factNumber(page, 'screen')) - interval).toBeWithin(0, 4);
    await says(page, 'The show is over');
    await keepPicture(page, `${look}-over`);
    // From the beginning again: what had happened has not happened yet.
    await page.getByRole('button', { name: 'Watch again' }).click();
    await until('no event', async () => (await fact(page, 'event')) === '–');
    expect(await seen(page, 'mark')).toBe(interval);
    await close(`${look}-ended`);
  }, 40_000);

  test('an unknown stream is told from one that is to come', async () => {
    const { page, close } = await openPage(randomUUID(), options);
    await says(page, 'There is no such show');
    await close(`${look}-unknown`);
  }, 20_000);

  test('[I-7] a service that is unavailable is asked again', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await says(page, 'The show has not begun');
    const { port } = front;
    await front.stop(true);
    await says(page, 'The service cannot be reached');
    await keepPicture(page, `${look}-away`);
    front = openFront(port ?? 0);
    await says(page, 'The show has not begun');
    await close();
  }, 30_000);
});

test('a show that is over and was not kept says so', async () => {
  const streamId = await service.createStream();
  await service.studio('POST', `/streams/${streamId}/start`);
  await service.studio('POST', `/streams/${streamId}/end`);
  const { page, close } = await openPage(streamId, PHONE);
  await says(page, 'The show is over');
  await page.getByText('There is no recording of it.').waitFor();
  expect(await statusOf(page)).toBe('Ended');
  await close('phone-light-gone');
}, 20_000);

test('[M-7] a source that is unavailable for a while is waited for, and the picture goes on', async () => {
  const streamId = await service.createStream();
  const first = await playTestPicture(service, streamId);
  const { page, close } = await openPage(streamId, { viewport: { width: 320, height: 568 } });
  await plays(page);
  await quit(first, 'SIGKILL');
  const again = await playTestPicture(service, streamId);
  const fromMs = Date.now();
  await until('a picture of after it', async () => {
    return (await factNumber(page, 'screen')) * 250 > fromMs;
  });
  expect(await statusOf(page)).toBe('Live');
  await close('narrow-live');
  await quit(again);
}, 40_000);

/** How far somebody goes back, s. */
const BACK_S = 12;

test('[M-26] who goes back sees what happened there, and one button leads to now', async () => {
  const { page, close } = await openPage(live, PHONE);
  await plays(page);
  // So far that nobody takes it for live.
  const pastS = `${VIDEO}.currentTime - ${VIDEO}.seekable.start(0)`;
  await until('a past', async () => (await page.evaluate<number>(pastS)) > BACK_S, 30_000);
  await happens(live, 'mark-back');
  const interval = await seen(page, 'mark-back');
  const toLive = page.getByRole('button', { name: 'go to live' });
  expect(await toLive.count()).toBe(0);
  await page.evaluate(`${VIDEO}.currentTime -= ${BACK_S}`);
  await toLive.waitFor();
  // There, what is to come has not happened, and the feed is where the picture is.
  await until('the past', async () => {
    const feed = await factNumber(page, 'feed');
    const isTogether = Math.abs((await factNumber(page, 'screen')) - feed) < 4;
    const isToCome = (await fact(page, 'event'))?.includes('mark-back') !== true;
    return isTogether && feed < interval - 8 && isToCome;
  });
  // The controls are there after a touch.
  await page.locator('video').tap();
  await toLive.tap();
  await until('now', async () => {
    return (await factNumber(page, 'now')) - (await factNumber(page, 'screen')) < 24;
  });
  await page.getByRole('button', { name: 'playing live' }).waitFor();
  await close();
}, 70_000);

test('a keyboard and a screen reader find everything', async () => {
  const { page, close } = await openPage(live, DESK, REFUSE_SOUND);
  await plays(page);
  expect(await page.getByRole('main').count()).toBe(1);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Watch the show');
  expect(await page.getByRole('region', { name: 'The show' }).count()).toBe(1);
  expect(await page.getByRole('status').first().count()).toBe(1);
  // A browser that lets no page begin with sound is asked by the viewer.
  const sound = page.getByRole('button', { name: 'Turn the sound on' });
  await sound.waitFor();
  const isMuted = () => page.evaluate<boolean>(`${VIDEO}.muted`);
  expect(await isMuted()).toBe(true);
  for (let tabs = 0; tabs < 30 && !(await isFocused(sound)); tabs++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await isMuted()).toBe(false);
  await until('no button', async () => (await sound.count()) === 0);
  // The keyboard is at the controls now.
  await page.keyboard.press('m');
  await until('no sound', isMuted);
  await page.keyboard.press('k');
  await until('a pause', () => page.evaluate<boolean>(`${VIDEO}.paused`));
  await close();
}, 30_000);

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === element.ownerDocument.activeElement);
}
