import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import {
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  CHOICE_CHARS,
  CHOICES_MAX,
  QUESTION_CHARS,
} from '../../protocol/limits.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, field, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';
import { notIsolated, wordsOf } from '../support/web/isolation.ts';
import { isPaintedOn, STACKED, stackedMarks } from '../support/web/stacked-marks.ts';

// The studio with words of people that run from right to left, and with the longest texts that the
// service accepts, in one piece.

const SIZES = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 844 },
] as const;
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth';

let fixture: StudioFixture;
let owner: OpenedPage;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
}, 30_000);
afterAll(() => fixture?.close());

const call = <T>(method: string, path: string, data?: unknown) =>
  fixture.call<T>(owner, method, path, data);

/** Creates a show whose texts come from `textOf`, and a member and a token with such names. */
async function createTexts(textOf: (what: string, max: number) => string, email: string) {
  const stream = await call<StudioStream>('POST', '/streams', { title: textOf('title', 200) });
  const choices = Array.from({ length: CHOICES_MAX }, (_, n) => textOf(`${n}`, CHOICE_CHARS));
  await call('POST', `/streams/${stream.id}/quizzes`, {
    question: textOf('question', QUESTION_CHARS),
    choices,
    answer: choices[1],
    duration: 3_000,
    reveal: 'auto',
  });
  await call('POST', '/api-tokens', { name: textOf('token', 80) });
  const { link } = await call<{ link: string }>('POST', '/invitations', { email, role: 'host' });
  const data = { token: link.split('=').at(-1), name: textOf('member', 80), password: PASSWORD };
  const stranger = await fixture.browser.newContext();
  const accepted = await stranger.request.post(`${fixture.url}/studio/v1/invitations/accept`, {
    data,
  });
  expect(accepted.status()).toBe(201);
  await stranger.close();
  return stream.id;
}

const open = (page: Page, path: string) => page.goto(`${fixture.url}/studio${path}`);

/** The button of On air for the next step. */
const nextAction = (page: Page) =>
  page.getByRole('region', { name: 'Next', exact: true }).getByRole('button').first();

/** Whether all of an element is on the screen, on top. */
const isInView = (locator: Locator) =>
  locator.evaluate((element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    const { defaultView, documentElement } = element.ownerDocument;
    const height = defaultView?.innerHeight ?? 0;
    const hit = element.ownerDocument.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return (
      left >= 0 &&
      top >= 0 &&
      right <= documentElement.clientWidth &&
      bottom <= height &&
      element.contains(hit)
    );
  });

describe('words from right to left', () => {
  test('leave the words around them in place, on every page of the studio', async () => {
    const { page } = owner;
    await call('PATCH', '/session/member', { name: wordsOf('owner') });
    const streamId = await createTexts((what) => wordsOf(what), 'ben@example.org');
    await open(page, '/');
    await page.getByText(wordsOf('title')).waitFor();
    expect(await notIsolated(page)).toEqual([]);
    for (const [path, what] of [
      ['/team', 'member'],
      ['/tokens', 'token'],
      [`/streams/${streamId}/rundown`, 'question'],
    ] as const) {
      await open(page, path);
      await page.getByText(wordsOf(what)).first().waitFor();
      expect([path, await notIsolated(page)]).toEqual([path, []]);
    }
    await open(page, '/team');
    await button(page, `Remove ${wordsOf('member')}`).click();
    await page.getByRole('alertdialog').waitFor();
    expect(await notIsolated(page)).toEqual([]);
  }, 60_000);

  test('leave the words around them in place during a show and in its report', async () => {
    const { page } = owner;
    const streamId = await createTexts((what) => wordsOf(what), 'bea@example.org');
    await open(page, `/streams/${streamId}/on-air`);
    await page.getByRole('heading', { name: wordsOf('title') }).waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await call('POST', `/streams/${streamId}/start`);
    await page.getByText(wordsOf('question')).first().waitFor();
    expect(await notIsolated(page)).toEqual([]);
    const viewer = fixture.joinViewer(streamId, 'viewer-1');
    viewer.name = wordsOf('viewer');
    await until('the viewer is live', () => viewer.state === 'live');
    await viewer.sendMessage('question', wordsOf('message'));
    await until('the quiz can be sent', () => nextAction(page).isEnabled());
    await nextAction(page).click();
    const purchase = { name: wordsOf('buyer'), text: wordsOf('bought') };
    await call('POST', `/streams/${streamId}/events`, { type: 'purchase', data: purchase });
    const chat = page.getByRole('region', { name: 'Chat', exact: true });
    await chat.getByText(wordsOf('message')).first().waitFor();
    await page.getByText('Results shown').waitFor();
    await page.getByText(wordsOf('bought')).first().waitFor();
    expect(await notIsolated(page)).toEqual([]);
    const message = chat.getByRole('article').filter({ hasText: wordsOf('message') });
    await message.press('p');
    await button(page, 'Unpin message').waitFor();
    await saveScreenshot(page, 'rtl-on-air');
    await message.press('b');
    await page.getByRole('alertdialog').waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await button(page, 'Ban').click();
    await button(page, 'Chat settings').click();
    await page.getByRole('dialog').getByText(wordsOf('viewer')).first().waitFor();
    expect(await notIsolated(page)).toEqual([]);
    await call('POST', `/streams/${streamId}/end`, {});
    await open(page, `/streams/${streamId}/report`);
    await page.getByText(wordsOf('question')).first().waitFor({ timeout: 15_000 });
    expect(await notIsolated(page)).toEqual([]);
  }, 60_000);
});

describe('the longest texts without spaces', () => {
  /** @returns `max` letters that end with `what` */
  const endless = (what: string, max: number) => what.padStart(max, 'ha');

  test('make no page wider than the screen, and hide no buttons of dialogs', async () => {
    const { page } = owner;
    const streamId = await createTexts(endless, 'bob@example.org');
    for (const size of SIZES) {
      await page.setViewportSize(size);
      for (const path of ['/', '/team', '/tokens', `/streams/${streamId}`]) {
        await open(page, path);
        await page.getByText(/haha/).first().waitFor();
        expect([path, size.width, await page.evaluate(TOO_WIDE)]).toEqual([path, size.width, 0]);
      }
      await open(page, '/team');
      await button(page, `Remove ${endless('member', 80)}`).click();
      const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Remove' });
      await confirm.waitFor();
      expect([size.width, await isInView(confirm)]).toEqual([size.width, true]);
      await saveScreenshot(page, `long-remove-${size.width}`);
    }
  }, 60_000);

  test('leave the actions of the rundown in view', async () => {
    const { page } = owner;
    const streamId = await createTexts(endless, 'eve@example.org');
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await open(page, `/streams/${streamId}/rundown`);
      const actions = page.getByRole('button', { name: /^Actions for/ });
      await actions.waitFor();
      expect([size.width, await isInView(actions)]).toEqual([size.width, true]);
      expect([size.width, await page.evaluate(TOO_WIDE)]).toEqual([size.width, 0]);
      await saveScreenshot(page, `long-rundown-${size.width}`);
      await actions.click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const remove = page.getByRole('alertdialog').getByRole('button', { name: 'Delete' });
      await remove.waitFor();
      expect([size.width, await isInView(remove)]).toEqual([size.width, true]);
      await saveScreenshot(page, `long-delete-${size.width}`);
      await button(page, 'Cancel').click();
      await actions.click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await field(page, 'Question').waitFor();
      expect([size.width, await isInView(button(page, 'Save'))]).toEqual([size.width, true]);
      await saveScreenshot(page, `long-edit-${size.width}`);
      await button(page, 'Cancel').click();
    }
  }, 60_000);

  test('leave the next action of On air in view', async () => {
    const { page } = owner;
    const streamId = await createTexts(endless, 'pat@example.org');
    await call('POST', `/streams/${streamId}/start`);
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await open(page, `/streams/${streamId}/on-air`);
      await page.getByText(endless('question', QUESTION_CHARS)).first().waitFor();
      await saveScreenshot(page, `long-on-air-${size.width}`);
      expect([size.width, await isInView(nextAction(page))]).toEqual([size.width, true]);
      expect([size.width, await page.evaluate(TOO_WIDE)]).toEqual([size.width, 0]);
    }
    await until('the quiz can be sent', () => nextAction(page).isEnabled());
    await nextAction(page).click();
    await page.getByText(endless('9', CHOICE_CHARS)).first().waitFor();
    expect(await page.evaluate(TOO_WIDE)).toBe(0);
  }, 60_000);

  test('of marks that stack up on a letter cover no other messages and winners on air', async () => {
    const { page } = owner;
    const streamId = (await call<StudioStream>('POST', '/streams', { title: 'Marks' })).id;
    await call('POST', `/streams/${streamId}/start`);
    await open(page, `/streams/${streamId}/on-air`);
    // Winners are in the order of their first tokens.
    const first = fixture.joinViewer(streamId, 'viewer-1');
    await until('the first is live', () => first.state === 'live');
    const second = fixture.joinViewer(streamId, 'viewer-2');
    await until('the second is live', () => second.state === 'live');
    second.name = stackedMarks(CHAT_NAME_CHARS);
    await second.sendMessage('message', stackedMarks(CHAT_TEXT_CHARS));
    const messages = page.getByRole('feed').getByRole('article');
    await messages.filter({ hasText: STACKED }).waitFor();
    // The newest message is on top.
    await first.sendMessage('message', 'Good evening!');
    const above = messages.filter({ hasText: 'Good evening!' });
    await above.waitFor();
    expect(await isPaintedOn(above, messages.filter({ hasText: STACKED }))).toBe(false);
    await call('POST', `/streams/${streamId}/request-winners`);
    const winners = page.getByRole('article', { name: 'Winners on screen' }).getByRole('listitem');
    await winners.filter({ hasText: STACKED }).waitFor();
    const firstWinner = winners.filter({ hasText: 'viewer-1' });
    expect(await isPaintedOn(firstWinner, winners.filter({ hasText: STACKED }))).toBe(false);
  }, 60_000);

  test('logged no errors', () => {
    expect(owner.errors).toEqual([]);
  });
});
