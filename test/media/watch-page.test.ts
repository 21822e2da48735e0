import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Server, Subprocess } from 'bun';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { watchRoutes } from '../../server/web/watch-page.ts';
import { IS_FULL_RUN } from '../support/full-run.ts';
import { expectJson, type Harness } from '../support/harness/harness.ts';
import { launchBrowser } from '../support/media/browser.ts';
import { endOf, quit, startMedia } from '../support/media/live-fixture.ts';
import { playTestPicture } from '../support/media/test-source.ts';
import { until } from '../support/until.ts';

// The page that plays a stream, on a phone; `npm run test:full` has a desktop and more flows too.

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const DESKTOP = { viewport: { width: 1_280, height: 800 } };
const LAYOUTS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['phone-light', { ...PHONE, colorScheme: 'light' }],
  ['desk-dark', { ...DESKTOP, colorScheme: 'dark' }],
];
const COUNT_SHIFTS = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) globalThis.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });`;
// Simulates browsers that block audio before a user gesture.
const BLOCK_AUDIO = `
  const play = HTMLMediaElement.prototype.play;
  HTMLMediaElement.prototype.play = async function () {
    if (!this.muted) throw new DOMException('not yet', 'NotAllowedError');
    return play.call(this);
  };`;
const LAYOUT_METRICS = '[shift, document.documentElement.scrollWidth - innerWidth]';
const VIDEO = "document.querySelector('video')";
// Console message of browsers for an error response that the page handles.
const EXPECTED_ERROR = /^Failed to load resource: /;

// Directory for screenshots of all states; unset takes none.
const SCREENSHOTS = process.env.FOURBEAT_TEST_PICTURES;

let service: Harness;
/** Serves the watch page and forwards all other requests to the service. */
let pageServer: Server<undefined>;
let browser: Browser;
let recorded: string;
let live: string;
let source: Subprocess;

beforeAll(async () => {
  browser = await launchBrowser();
  // A busy machine takes more than a second to start the next source.
  service = await startMedia({ media: { segmentMs: 500, sourceGraceMs: 5_000 } });
  pageServer = startPageServer(0);
  recorded = await service.createStream({ recording: true });
  live = await service.createStream();
  const recording = await playTestPicture(service, recorded);
  await Bun.sleep(1_000);
  await publishEvent(recorded, 'mark');
  // The source of the live stream starts while the recording goes on.
  [source] = await Promise.all([playTestPicture(service, live), Bun.sleep(3_000)]);
  await quit(recording);
  await endOf(service, recorded);
}, 60_000);
afterAll(async () => {
  source?.kill();
  await browser?.close();
  await pageServer?.stop(true);
  await service?.close();
});

function startPageServer(port: number): Server<undefined> {
  const log = { requestId: () => 'request', logDefect: () => {} };
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    routes: watchRoutes({
      ...{ corsOrigin: '*', log },
      originOf: () => service.url,
      readShow: async () => null,
    }),
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(service.url + pathname + search, request), { decompress: false });
    },
  });
}

async function publishEvent(streamId: string, type: string): Promise<void> {
  const event = { type, data: {} };
  await expectJson(await service.studio('POST', `/streams/${streamId}/events`, event), 201);
}

async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS)
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

interface OpenedPage {
  readonly page: Page;
  /** Console errors and exceptions of the page. */
  readonly errors: string[];
  close(name?: string): Promise<void>;
}

async function openPage(
  streamId: string,
  options: BrowserContextOptions = {},
  script = '',
): Promise<OpenedPage> {
  const context = await browser.newContext(options);
  await context.addInitScript(script + COUNT_SHIFTS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED_ERROR.test(message.text()))
      errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${pageServer.url.origin}/watch/${streamId}?facts`);
  return {
    page,
    errors,
    async close(name) {
      const [shift, overflow] = await page.evaluate<[number, number]>(LAYOUT_METRICS);
      if (name) await takeScreenshot(page, name);
      expect(errors).toEqual([]);
      // No layout shift, and no horizontal overflow.
      expect(shift).toBeLessThan(0.05);
      expect(overflow).toBeLessThanOrEqual(0);
      await context.close();
    },
  };
}

const waitForNotice = (page: Page, title: string) =>
  page.locator('.notice-title', { hasText: title }).waitFor({ timeout: 10_000 });
const expectNoNotice = async (page: Page) =>
  expect(await page.locator('.notice-title').count()).toBe(0);
const statusOf = (page: Page) => page.locator('.badge-status').textContent();
/** A value of the debug panel about video and feed. */
const fact = (page: Page, id: string) => page.locator(`#fact-${id}`).textContent();
const factNumber = async (page: Page, id: string) =>
  Number.parseInt((await fact(page, id)) ?? '', 10);
const waitForVideo = (page: Page) =>
  until('video', async () => (await factNumber(page, 'screen')) > 0);
/** Waits until an event of this type is on screen. @returns its interval */
const waitForEvent = (page: Page, type: string) =>
  until(type, async () => {
    const text = await fact(page, 'event');
    return text?.endsWith(` ${type}`) ? Number.parseInt(text, 10) : null;
  });

describe.each(IS_FULL_RUN ? LAYOUTS : LAYOUTS.slice(0, 1))('%s', (layout, options) => {
  test('[M-45] before the show, the page shows a notice', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await waitForNotice(page, 'The show has not started yet');
    expect(await statusOf(page)).toBe('Not started');
    await page.locator('.audience-count', { hasText: '1 waiting' }).waitFor();
    await close(`${layout}-lobby`);
  }, 20_000);

  test('[M-45] the page waits for the video of a show', async () => {
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/start`);
    const { page, close } = await openPage(streamId, options);
    await waitForNotice(page, 'Waiting for the video…');
    expect(await statusOf(page)).toBe('Live');
    // The page shows events without video, too.
    await publishEvent(streamId, 'mark');
    await waitForEvent(page, 'mark');
    await close(`${layout}-waiting`);
  }, 20_000);

  test('[M-12] [M-45] video plays, and events appear when their interval is on screen', async () => {
    const { page, close } = await openPage(live, options);
    await waitForVideo(page);
    await expectNoNotice(page);
    expect(await statusOf(page)).toBe('Live');
    const type = `mark-${layout}`;
    await publishEvent(live, type);
    const interval = await waitForEvent(page, type);
    const onScreen = await factNumber(page, 'screen');
    expect(onScreen - interval).toBeWithin(0, 4);
    expect((await factNumber(page, 'feed')) - interval).toBeWithin(0, 4);
    // The service received the event long before.
    expect((await factNumber(page, 'now')) - interval).toBeGreaterThan(3);
    await close(`${layout}-live`);
  }, 30_000);

  test('[M-27] a recorded show replays with its feed in sync', async () => {
    const { page, close } = await openPage(recorded, options);
    await waitForVideo(page);
    expect(await statusOf(page)).toBe('Replay');
    const interval = await waitForEvent(page, 'mark');
    expect((await factNumber(page, 'screen')) - interval).toBeWithin(0, 4);
    await waitForNotice(page, 'The show is over');
    await takeScreenshot(page, `${layout}-over`);
    // After a restart from the beginning, the event is in the future again.
    await page.getByRole('button', { name: 'Watch again' }).click();
    await until('no event', async () => (await fact(page, 'event')) === '–');
    expect(await waitForEvent(page, 'mark')).toBe(interval);
    await close(`${layout}-ended`);
  }, 40_000);

  test('an unknown stream has its own notice', async () => {
    const { page, close } = await openPage(randomUUID(), options);
    await waitForNotice(page, 'Show not found');
    await close(`${layout}-unknown`);
  }, 20_000);

  test('[I-7] the page retries while the service is unavailable', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await waitForNotice(page, 'The show has not started yet');
    const { port } = pageServer;
    await pageServer.stop(true);
    await waitForNotice(page, 'Cannot connect to the show');
    await takeScreenshot(page, `${layout}-away`);
    pageServer = startPageServer(port ?? 0);
    await waitForNotice(page, 'The show has not started yet');
    await close();
  }, 30_000);
});

test('an ended show without recording has its own notice', async () => {
  const streamId = await service.createStream();
  await service.studio('POST', `/streams/${streamId}/start`);
  await service.studio('POST', `/streams/${streamId}/end`);
  const { page, close } = await openPage(streamId, PHONE);
  await waitForNotice(page, 'The show is over');
  await page.getByText('There is no recording.').waitFor();
  expect(await statusOf(page)).toBe('Ended');
  await close('phone-light-gone');
}, 20_000);

/** How far the viewer seeks back, s. */
const BACK_S = 12;

if (IS_FULL_RUN) {
  test('[M-7] the page waits for a lost source, and video continues', async () => {
    const streamId = await service.createStream();
    const first = await playTestPicture(service, streamId);
    const { page, close } = await openPage(streamId, { viewport: { width: 320, height: 568 } });
    await waitForVideo(page);
    await quit(first, 'SIGKILL');
    const again = await playTestPicture(service, streamId);
    const fromMs = Date.now();
    const isNewFrame = async () => (await factNumber(page, 'screen')) * 250 > fromMs;
    await until('a frame after the reconnect', isNewFrame, 30_000);
    expect(await statusOf(page)).toBe('Live');
    await close('narrow-live');
    await quit(again);
  }, 60_000);

  test('[M-26] after seeking back, the feed follows the video, and one button returns to live', async () => {
    const { page, close } = await openPage(live, PHONE);
    await waitForVideo(page);
    // Far enough back that the player does not count as live.
    // Nothing is seekable until the player has read the playlist.
    const seekable = `${VIDEO}.seekable`;
    const pastS = `${seekable}.length === 0 ? 0 : ${VIDEO}.currentTime - ${seekable}.start(0)`;
    await until('a past', async () => (await page.evaluate<number>(pastS)) > BACK_S, 30_000);
    await publishEvent(live, 'mark-back');
    const interval = await waitForEvent(page, 'mark-back');
    const liveButton = page.getByRole('button', { name: 'go to live' });
    expect(await liveButton.count()).toBe(0);
    await page.evaluate(`${VIDEO}.currentTime -= ${BACK_S}`);
    await liveButton.waitFor();
    // The feed follows the video: later events are not shown.
    await until('the past', async () => {
      const feed = await factNumber(page, 'feed');
      const isInSync = Math.abs((await factNumber(page, 'screen')) - feed) < 4;
      const isEventHidden = (await fact(page, 'event'))?.includes('mark-back') !== true;
      return isInSync && feed < interval - 8 && isEventHidden;
    });
    // A tap shows the controls.
    await page.locator('video').tap();
    await liveButton.tap();
    await until('now', async () => {
      return (await factNumber(page, 'now')) - (await factNumber(page, 'screen')) < 24;
    });
    await page.getByRole('button', { name: 'playing live' }).waitFor();
    await close();
  }, 70_000);
}

test('the page can be used with keyboard and screen reader', async () => {
  const { page, close } = await openPage(live, DESKTOP, BLOCK_AUDIO);
  await waitForVideo(page);
  expect(await page.getByRole('main').count()).toBe(1);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Watch the show');
  expect(await page.getByRole('region', { name: 'Video', exact: true }).count()).toBe(1);
  expect(await page.getByRole('status').first().count()).toBe(1);
  // When the browser blocks audio, the page offers a button.
  const audioButton = page.getByRole('button', { name: 'Turn on sound' });
  await audioButton.waitFor();
  const isMuted = () => page.evaluate<boolean>(`${VIDEO}.muted`);
  expect(await isMuted()).toBe(true);
  for (let tabs = 0; tabs < 30 && !(await isFocused(audioButton)); tabs++)
    await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await isMuted()).toBe(false);
  await until('no button', async () => (await audioButton.count()) === 0);
  // The focus is on the controls now.
  await page.keyboard.press('m');
  await until('no sound', isMuted);
  await page.keyboard.press('k');
  await until('a pause', () => page.evaluate<boolean>(`${VIDEO}.paused`));
  await close();
}, 30_000);

function isFocused(locator: Locator): Promise<boolean> {
  return locator.evaluate((element) => element === element.ownerDocument.activeElement);
}
