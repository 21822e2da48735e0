import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { PresenterState } from '../../protocol/presenter.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import type { RoundWinner } from '../../protocol/winners.ts';
import { axeViolations } from '../support/player/axe.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { saveScreenshot } from '../support/studio/studio-pages.ts';
import { notIsolated, wordsOf } from '../support/web/isolation.ts';
import { isPaintedOn, stackedMarks } from '../support/web/stacked-marks.ts';

// The winners on the display, from states that the test sends in place of the service.

const SCREENS = {
  '1080p': { width: 1_920, height: 1_080 },
  '720p': { width: 1_280, height: 720 },
  portrait: { width: 1_080, height: 1_920 },
} as const;
const COLOR_SCHEMES = ['dark', 'light'] as const;
const LONG_NAME = 'Maximiliane Theodora von und zu Hohenste';
const ENDLESS_NAME = 'Rindfleischetikettierungsueberwachungsau';

/** Sends `shownState` twice a second, in place of the service. */
const FAKE_STATES = `{
  const { fetch } = globalThis;
  const encoder = new TextEncoder();
  const message = () =>
    encoder.encode('event: state\\ndata: ' +
      JSON.stringify({ ...globalThis.shownState, now: Date.now() }) + '\\n\\n');
  const states = () => new ReadableStream({
    start: (controller) => {
      controller.enqueue(message());
      setInterval(() => controller.enqueue(message()), 300);
    },
  });
  globalThis.fetch = (url, init) =>
    String(url).endsWith('/present')
      ? Promise.resolve(new Response(states(), { headers: { 'Content-Type': 'text/event-stream' } }))
      : fetch(url, init);
}`;

/** Texts that are cut off by the screen, their scene or their box. */
const CUT_OFF = `[...document.querySelectorAll('.scene h1, .scene p, .winner, .display-foot > *')]
  .filter((one) => {
    const { top, bottom, left, right } = one.getBoundingClientRect();
    const texts = document.createRange();
    texts.selectNodeContents(one);
    const text = texts.getBoundingClientRect();
    const around = (one.closest('.scene') ?? document.body).getBoundingClientRect();
    return top < around.top - 1 || bottom > around.bottom + 1 || bottom > innerHeight + 1
      || text.left < Math.max(left, around.left) - 1 || text.right > Math.min(right, around.right) + 1;
  })
  .map((one) => one.textContent)`;

const winnersOf = (names: readonly (string | null)[]): RoundWinner[] =>
  names.map((name, index) => ({ code: `KOTA-${2_222 + Number(index.toString(8))}`, name }));
const many = (count: number, nameOf: (index: number) => string | null) =>
  winnersOf(Array.from({ length: count }, (_, index) => nameOf(index)));

let fixture: StudioFixture;
let stream: StudioStream;
let opened: OpenedPage[] = [];

beforeAll(async () => {
  fixture = await StudioFixture.start();
  const owner = await fixture.openOwner();
  stream = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title: 'Quiz night' });
  opened = [owner];
}, 30_000);
afterAll(() => fixture?.close());

/** Opens a display that shows these winners. */
async function open(count: number, first: readonly RoundWinner[], query = ''): Promise<Page> {
  const state: PresenterState = {
    now: 0,
    stream: { id: stream.id, title: stream.title, status: 'STREAMING' },
    count: 1_234,
    quiz: null,
    winners: null,
  };
  const one = await fixture.open(
    `/studio/present/${stream.id}${query}#key=pk_a`,
    { viewport: SCREENS['1080p'], colorScheme: 'dark' },
    `${FAKE_STATES} globalThis.shownState = ${JSON.stringify(state)};`,
  );
  opened.push(one);
  // An overlay shows winners that come after it was opened.
  await one.page.locator('.display-foot, .display:empty').first().waitFor({ state: 'attached' });
  await one.page.evaluate(
    `globalThis.shownState = ${JSON.stringify({ ...state, winners: { count, first } })}`,
  );
  await one.page.locator('.scene--winners').waitFor();
  return one.page;
}

/** Checks that the scene fits on every screen and is accessible. */
async function expectFits(page: Page, name: string): Promise<void> {
  for (const [screen, size] of Object.entries(SCREENS)) {
    await page.setViewportSize(size);
    for (const colorScheme of COLOR_SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await saveScreenshot(page, `winners-${name}-${screen}-${colorScheme}`);
    }
    const frame = 'new Promise((resolve) => requestAnimationFrame(resolve))';
    await page.evaluate(`${frame}.then(() => ${frame})`);
    expect([name, screen, await page.evaluate(CUT_OFF)]).toEqual([name, screen, []]);
  }
  expect(await axeViolations(page)).toEqual([]);
  await page.setViewportSize(SCREENS['1080p']);
}

const textOf = async (page: Page) => (await page.locator('.scene').innerText()).split(/\s*\n\s*/);
const items = (page: Page) => page.getByRole('listitem').allInnerTexts();

describe('the display', () => {
  test('[B-14] [W-13] shows one winner by name and code, or by code alone', async () => {
    const named = await open(1, winnersOf(['Ada']));
    expect(await textOf(named)).toEqual(['The winner is', 'Ada', 'KOTA-2222']);
    await expectFits(named, 'one');
    const unnamed = await open(1, winnersOf([null]));
    expect(await textOf(unnamed)).toEqual(['The winner is', 'KOTA-2222']);
    await expectFits(unnamed, 'one-code');
    for (const [name, title] of [
      [LONG_NAME, 'one-long'],
      [ENDLESS_NAME, 'one-endless'],
    ] as const) {
      await expectFits(await open(1, winnersOf([name])), title);
    }
  }, 90_000);

  test('[B-14] [W-13] lists a few winners with their codes', async () => {
    const page = await open(3, winnersOf(['Ada', null, 'Ada']));
    expect(await items(page)).toEqual(['Ada\nKOTA-2222', 'KOTA-2223', 'Ada\nKOTA-2224']);
    await expectFits(page, 'three');
    const names = ['Ada', LONG_NAME, 'Bob', ENDLESS_NAME, null, 'Grace', 'Li', null, 'Zoë', 'Max'];
    const ten = await open(10, winnersOf(names));
    expect(await items(ten)).toHaveLength(10);
    await ten.getByRole('heading', { name: '10 winners!' }).waitFor();
    await expectFits(ten, 'ten');
    await expectFits(await open(10, winnersOf(names), '?background=transparent'), 'ten-overlay');
  }, 90_000);

  test('[B-14] shows a thousand winners as their count and pages of the first ones', async () => {
    const nameOf = (index: number) =>
      index > 40
        ? null
        : index % 7 === 3
          ? LONG_NAME
          : index % 7 === 4
            ? ENDLESS_NAME
            : `Ada ${index}`;
    const page = await open(1_000, many(100, nameOf));
    await page.getByRole('heading', { name: '1,000 winners!' }).waitFor();
    await page.getByText('and 900 more', { exact: true }).waitFor();
    const first = await items(page);
    expect(first).toHaveLength(17);
    expect(first[0]).toBe('Ada 0');
    await expectFits(page, 'thousand');
    await page.getByText('Ada 19', { exact: true }).waitFor({ timeout: 12_000 });
    expect((await items(page)).filter((text) => text === 'Ada 0')).toEqual([]);
  }, 90_000);

  test('[B-14] isolates names from right to left', async () => {
    const page = await open(2, winnersOf([wordsOf('a'), wordsOf('b')]));
    await page.getByRole('listitem').first().waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await expectFits(page, 'right-to-left');
    const one = await open(1, winnersOf([wordsOf('c')]));
    expect(await notIsolated(one)).toEqual([]);
    await expectFits(one, 'one-right-to-left');
  }, 90_000);

  test('[B-14] keeps marks that stack up on a letter of a name out of the other texts', async () => {
    const page = await open(3, winnersOf(['Ada', 'Bob', stackedMarks(40)]));
    const last = page.locator('.winner').last();
    expect(await isPaintedOn(page.getByRole('heading'), last)).toBe(false);
    const one = await open(1, winnersOf([stackedMarks(40)]));
    expect(await isPaintedOn(one.locator('.scene-below'), one.getByRole('heading'))).toBe(false);
  }, 60_000);

  test('[B-14] shows only the count when no winners are known', async () => {
    const page = await open(3, []);
    expect(await textOf(page)).toEqual(['3', 'winners!']);
  }, 30_000);

  test('logged no errors', () => {
    expect(opened.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
