import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { rounds } from '../support/full-run.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// The size and the load time of the watch page, by the browser's performance entries.

const KB = 1_000;
/** Scripts and styles of the page, compressed, without hls.js. */
const BUDGET_BYTES = 250 * KB;
const LOADS = rounds(1, 5);
// The aim is 1 s on an idle machine. The test allows more, since other tests may run beside it.
const INTERACTIVE_MAX_MS = 3_000;

/** Records when a button is there and the main thread is idle, ms from the start of the load. */
const RECORD_INTERACTIVE = `
  globalThis.interactiveMs = null;
  new MutationObserver((_, observer) => {
    if (!document.querySelector('.heart-button')) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { interactiveMs = performance.now(); }));
  }).observe(document, { subtree: true, childList: true });`;
const CONTENT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null`;
/** The compressed size of each file of the page, bytes, by name. */
const FILE_SIZES = `Object.fromEntries(performance.getEntriesByType('resource')
  .filter(({ name }) => new URL(name).pathname.startsWith('/player/'))
  .map(({ name, encodedBodySize }) => [name.split('/').at(-1), encodedBodySize]))`;

let fixture: ShowFixture;
let streamId: string;

beforeAll(async () => {
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream();
}, 60_000);
afterAll(() => fixture?.close());

/** Opens the page with an empty cache. */
const openPage = (): Promise<WatchSession> =>
  fixture.watch(streamId, SCREENS.phone, async (context) => {
    await context.addInitScript(RECORD_INTERACTIVE);
  });
const fileSizesOf = (page: Page) => page.evaluate<Record<string, number>>(FILE_SIZES);
const sumOf = (sizes: Record<string, number>) =>
  Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0);
const inKb = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`;
const medianOf = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

test('the watch page is interactive within 3 s', async () => {
  // The service builds the page at the first request.
  await (await openPage()).context.close();
  const loads: { contentMs: number; interactiveMs: number }[] = [];
  for (let n = 0; n < LOADS; n++) {
    const { page, context, errors } = await openPage();
    const interactiveMs = await until('an interactive page', () =>
      page.evaluate<number | null>('interactiveMs'),
    );
    const contentMs = await until('the first content', () => page.evaluate<number | null>(CONTENT));
    loads.push({ contentMs, interactiveMs });
    await page.getByRole('button', { name: 'Send a heart' }).tap();
    await page.getByText('Heart sent').waitFor({ state: 'attached' });
    expect(errors).toEqual([]);
    await context.close();
  }
  const contentMs = medianOf(loads.map((load) => load.contentMs));
  const interactiveMs = medianOf(loads.map((load) => load.interactiveMs));
  console.log(
    `median of loads (${LOADS}): first content ${contentMs.toFixed()} ms, interactive ${interactiveMs.toFixed()} ms`,
  );
  expect(interactiveMs).toBeLessThan(INTERACTIVE_MAX_MS);
}, 30_000);

test('the watch page is smaller than 250 KB, and loads hls.js only when there is video', async () => {
  const { page, context } = await openPage();
  await page.getByText('The show has not started yet').waitFor();
  const lobbySizes = await fileSizesOf(page);
  await context.close();
  await fixture.play(streamId);
  const { page: live } = await openPage();
  await until('the video', () =>
    live.evaluate<boolean>("document.querySelector('video')?.currentTime > 0"),
  );
  const liveSizes = await fileSizesOf(live);
  console.log(
    `${inKb(sumOf(lobbySizes))} of script and style, ${inKb(sumOf(liveSizes))} with hls.js:`,
    liveSizes,
  );
  expect(Object.keys(lobbySizes).filter((name) => name.endsWith('.js'))).toContain('watch.js');
  expect(Object.keys(lobbySizes).filter((name) => name.endsWith('.css'))).toContain(
    'watch-page.css',
  );
  expect(sumOf(lobbySizes)).toBeLessThan(BUDGET_BYTES);
  expect(Object.keys(liveSizes)).toHaveLength(Object.keys(lobbySizes).length + 1);
}, 30_000);
