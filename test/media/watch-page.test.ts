import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Server, Subprocess } from 'bun';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { watchRoutes } from '../../server/http/watch-page.ts';
import { expectJson, type Harness } from '../harness.ts';
import { launchBrowser } from './browser.ts';
import { endOf, quit, startMedia, until } from './live-ground.ts';
import { playTestPicture } from './test-source.ts';

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
  const log = { requestId: () => 'request', broken: () => {} };
  front = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: watchRoutes({ corsOrigin: '*', log }),
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      return fetch(new Request(service.url + pathname + search, request), { decompress: false });
    },
  });
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

async function openPage(streamId: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  await page.addInitScript(COUNT_SHIFTS);
  await page.goto(`${front.url.origin}/watch/${streamId}`);
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

const notice = (page: Page) => page.locator('#notice').textContent({ timeout: 2_000 });
const says = (page: Page, text: string) => until(text, async () => (await notice(page)) === text);
const textOf = (page: Page, id: string) => page.locator(`#${id}`).textContent();
const numberOf = async (page: Page, id: string) => Number(await textOf(page, id));
const plays = (page: Page) =>
  until('the picture', async () => (await numberOf(page, 'screen')) > 0);

describe.each(LOOKS)('%s', (look, options) => {
  test('[M-45] before the show it says so', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await says(page, 'The show has not begun.');
    expect(await textOf(page, 'status')).toBe('Not started');
    await until('one who waits', async () => (await textOf(page, 'count')) === '1');
    await close(`${look}-lobby`);
  }, 20_000);

  test('[M-45] a show without a picture is waited for', async () => {
    const streamId = await service.createStream();
    await service.studio('POST', `/streams/${streamId}/start`);
    const { page, close } = await openPage(streamId, options);
    await says(page, 'Waiting for the picture …');
    expect(await textOf(page, 'status')).toBe('Live');
    await close(`${look}-waiting`);
  }, 20_000);

  test('[M-12] [M-45] the picture plays, and what happens is shown when it is on screen', async () => {
    const { page, close } = await openPage(live, options);
    await plays(page);
    expect(await notice(page)).toBe('');
    expect(await textOf(page, 'status')).toBe('Live');
    await until('one who watches', async () => (await textOf(page, 'count')) === '1');
    const type = `mark-${look}`;
    await happens(live, type);
    const seen = await until('the event', async () => {
      const text = await page.locator('#events li').first().textContent();
      return text?.includes(type) ? text : null;
    });
    const interval = Number(seen.split(' ')[0]);
    const onScreen = await numberOf(page, 'screen');
    expect(onScreen - interval).toBeWithin(0, 4);
    expect((await numberOf(page, 'feed')) - interval).toBeGreaterThan(3);
    await close(`${look}-live`);
  }, 30_000);

  test('[M-27] a show that is over is seen again, with its feed in step', async () => {
    const { page, close } = await openPage(recorded, options);
    await plays(page);
    expect(await textOf(page, 'status')).toBe('Ended');
    const seen = await until('the event', async () => {
      const text = await page.locator('#events li').first().textContent();
      return text?.includes('mark') ? text : null;
    });
    const interval = Number(seen.split(' ')[0]);
    expect((await numberOf(page, 'screen')) - interval).toBeWithin(0, 4);
    await says(page, 'The show is over.');
    // From the beginning again: what had happened has not happened yet.
    await page.evaluate(`${VIDEO}.currentTime = ${VIDEO}.seekable.start(0); void ${VIDEO}.play()`);
    await until('no event', async () => (await page.locator('#events li').count()) === 0);
    await until('the event again', async () => (await page.locator('#events li').count()) > 0);
    await close(`${look}-ended`);
  }, 40_000);

  test('an unknown stream is told from one that is to come', async () => {
    const { page, close } = await openPage(randomUUID(), options);
    await says(page, 'There is no such stream. Look at the address again.');
    await close(`${look}-unknown`);
  }, 20_000);

  test('[I-7] a service that is away is asked again', async () => {
    const { page, close } = await openPage(await service.createStream(), options);
    await says(page, 'The show has not begun.');
    await page.context().setOffline(true);
    await says(page, 'The service cannot be reached. Trying again …');
    await keepPicture(page, `${look}-away`);
    await page.context().setOffline(false);
    await says(page, 'The show has not begun.');
    await close();
  }, 20_000);
});

test('a show that is over and was not kept says so', async () => {
  const streamId = await service.createStream();
  await service.studio('POST', `/streams/${streamId}/start`);
  await service.studio('POST', `/streams/${streamId}/end`);
  const { page, close } = await openPage(streamId, PHONE);
  await says(page, 'The show is over. There is no recording of it.');
  await close('phone-light-gone');
}, 20_000);

test('[M-7] a source that is away for a while is waited for, and the picture goes on', async () => {
  const streamId = await service.createStream();
  const first = await playTestPicture(service, streamId);
  const { page, close } = await openPage(streamId, { viewport: { width: 320, height: 568 } });
  await plays(page);
  await quit(first, 'SIGKILL');
  const again = await playTestPicture(service, streamId);
  const fromMs = Date.now();
  await until('a picture of after it', async () => {
    return (await numberOf(page, 'screen')) * 250 > fromMs;
  });
  expect(await textOf(page, 'status')).toBe('Live');
  await close('narrow-live');
  await quit(again);
}, 40_000);

test('a keyboard and a screen reader find everything', async () => {
  const { page, close } = await openPage(live, DESK);
  await plays(page);
  expect(await page.getByRole('main').count()).toBe(1);
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Watch the show');
  expect(await page.getByRole('region', { name: 'Video' }).count()).toBe(1);
  expect(await page.locator('#notice').getAttribute('role')).toBe('status');
  const sound = page.getByRole('button', { name: 'Unmute' });
  await sound.waitFor();
  const isMuted = () => page.evaluate<boolean>(`${VIDEO}.muted`);
  const focused = () => page.evaluate<string>('document.activeElement.id');
  for (let tabs = 0; tabs < 20 && (await focused()) !== 'sound'; tabs++) {
    await page.keyboard.press('Tab');
  }
  expect(await focused()).toBe('sound');
  expect(await isMuted()).toBe(true);
  await page.keyboard.press('Enter');
  expect(await isMuted()).toBe(false);
  expect(await focused()).toBe('video');
  await until('no button', async () => (await sound.count()) === 0);
  await page.keyboard.press('Space');
  await until('a pause', () => page.evaluate<boolean>(`${VIDEO}.paused`));
  await close();
}, 30_000);
