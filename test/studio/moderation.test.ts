import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import type { Viewer } from '../../sdk/viewer.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// A chat is kept in order from the page of a show: what is done there is looked for with those who
// watch, and with who else is at work. Each test goes on where the one before stopped.

let fixture: StudioFixture;
let owner: OpenedPage;
/** The studio in another browser, as a second host has it. */
let second: Page;
let troll: Viewer;
let fan: Viewer;
/** The page of somebody else who watches. */
let watching: Page;
/** What the fan was told, by type. */
const told: Record<string, unknown[]> = { 'chat-hidden': [], 'chat-pinned': [], 'chat-mode': [] };

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const show = { title: 'A lively chat' };
  const { id } = await fixture.call<{ id: string }>(owner, 'POST', '/streams', show);
  await fixture.call(owner, 'POST', `/streams/${id}/start`);
  troll = fixture.watch(id, 'troll');
  fan = fixture.watch(id, 'fan');
  for (const [type, all] of Object.entries(told)) fan.on(type, (data) => all.push(data));
  ({ page: watching } = await fixture.watchPage(id));
  const onAir = `/studio/streams/${id}/on-air`;
  const session = await owner.context.storageState();
  ({ page: second } = await fixture.open(onAir, { storageState: session }));
  await owner.page.goto(fixture.url + onAir);
  await line(owner.page, 'Nobody').waitFor({ state: 'detached' });
  await troll.sendMessage('message', 'Buy my coins');
  await fan.sendMessage('question', 'Who made the music?');
  await fan.sendMessage('message', 'Good evening!');
}, 60_000);
afterAll(() => fixture?.close());

const chat = (page: Page) => page.getByRole('region', { name: 'Chat', exact: true });
const line = (page: Page, text: string): Locator =>
  chat(page).getByRole('article').filter({ hasText: text });

async function inMenu(page: Page, text: string, item: string): Promise<void> {
  const menu = line(page, text).getByRole('button', { name: /^What to do about/ });
  await menu.click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
  await page.mouse.move(0, 0);
}

/** Puts the focus on a line, and presses a key there. */
async function press(page: Page, text: string, key: string): Promise<void> {
  await line(page, text).focus();
  await page.keyboard.press(key);
  if (key !== 'b') await page.evaluate('document.activeElement.blur()');
}

describe('a chat that is kept in order', () => {
  test('[C-16] a line is hidden with one press: viewers are told, and all at work see it struck', async () => {
    const { page } = owner;
    const bad = line(page, 'Buy my coins');
    const seen = watching.getByRole('list', { name: 'Chat' });
    await seen.getByText('Buy my coins').waitFor();
    const hide = bad.getByRole('button', { name: 'Hide what troll wrote' });
    await hide.dblclick();
    await bad.getByText('Hidden').waitFor();
    await line(second, 'Buy my coins').getByText('Hidden').waitFor();
    const id = fan.snapshot.messages.find(({ text }) => text === 'Buy my coins')?.id;
    await until('a line is hidden', () => told['chat-hidden']?.length === 1);
    expect(told['chat-hidden']).toEqual([{ ids: [id] }]);
    await seen.getByText('Buy my coins').waitFor({ state: 'detached' });
    await seen.getByText('Good evening!').waitFor();
    await second.reload();
    await line(second, 'Buy my coins').getByText('Hidden').waitFor();
  }, 60_000);

  test('[C-17] a line is pinned by a key, and taken down where it is shown', async () => {
    const { page } = owner;
    await press(page, 'Good evening!', 'p');
    const down = button(second, 'Take the pinned line down');
    await down.waitFor();
    await line(second, 'Good evening!').getByText('Pinned').waitFor();
    const seen = watching.getByRole('complementary', { name: 'Pinned' });
    await seen.getByText('Good evening!').waitFor();
    await until('a line is pinned', () => told['chat-pinned']?.length === 1);
    await expectUsable(page, 'moderation');
    await down.click();
    await button(page, 'Take the pinned line down').waitFor({ state: 'detached' });
    await seen.waitFor({ state: 'detached' });
    await until('it is taken down', () => told['chat-pinned']?.length === 2);
    expect(told['chat-pinned']).toMatchObject([
      { line: { text: 'Good evening!' } },
      { line: null },
    ]);
  }, 60_000);

  test('[C-13] [C-14] the chat is slowed down and paused: both see it, and viewers are told', async () => {
    const { page } = owner;
    await chat(page)
      .getByRole('button', { name: /Slow mode/ })
      .click();
    await page.getByRole('option', { name: '1 line in 30 s' }).click();
    await chat(second)
      .getByRole('button', { name: /1 line in 30 s/ })
      .waitFor();
    await chat(second).getByText('Pause', { exact: true }).click();
    await chat(page).getByRole('switch', { name: 'Pause', checked: true }).waitFor();
    expect(await fan.sendMessage('message', 'Hello?').catch(() => 'refused')).toBe('refused');
    await chat(page).getByText('Pause', { exact: true }).click();
    await chat(page)
      .getByRole('button', { name: /Slow mode/ })
      .click();
    await page.getByRole('option', { name: 'Slow mode off' }).click();
    // What a mouse points at would be held.
    await page.mouse.move(0, 0);
    await until('the chat is as it was', () => told['chat-mode']?.length === 4);
    expect(told['chat-mode']).toEqual([
      { slowModeMs: 30_000, paused: false },
      { slowModeMs: 30_000, paused: true },
      { slowModeMs: 30_000, paused: false },
      { slowModeMs: 0, paused: false },
    ]);
  }, 60_000);

  test('[C-18] who is muted by a key writes nothing more, until somebody lets them', async () => {
    const { page } = owner;
    await press(page, 'Buy my coins', 'm');
    await page.getByText('troll is muted for 10 minutes.').waitFor();
    await second.getByRole('article', { name: 'troll: Buy my coins, Hidden, Muted' }).waitFor();
    expect(await troll.sendMessage('message', 'More coins').catch(() => 'refused')).toBe('refused');
    await button(second, 'Muted and banned (1)').click();
    await second
      .getByRole('dialog')
      .getByText(/^Muted until .*, by Ann$/)
      .waitFor();
    await expectUsable(second, 'restricted');
    await second.getByRole('button', { name: 'Let them write – troll' }).click();
    await second.getByText(/^Nobody is\./).waitFor();
    await second.keyboard.press('Escape');
    await line(page, 'Buy my coins').getByText('Muted').waitFor({ state: 'detached' });
    await troll.sendMessage('message', 'I am sorry');
    await line(page, 'I am sorry').waitFor();
  }, 60_000);

  test('[C-19] a ban is asked for first; who is banned is not counted any more', async () => {
    const { page } = owner;
    const count = page.getByRole('region', { name: 'Audience' });
    await count.getByText('3', { exact: true }).waitFor();
    await inMenu(page, 'I am sorry', 'Ban …');
    await button(page, 'Cancel').click();
    await press(page, 'I am sorry', 'b');
    await page.getByRole('alertdialog').getByText('Ban troll?').waitFor();
    await button(page, 'Ban').click();
    await line(page, 'I am sorry').getByText('Banned').waitFor();
    await count.getByText('2', { exact: true }).waitFor();
    expect(await troll.sendMessage('message', 'Hello?').catch(() => 'refused')).toBe('refused');
    await inMenu(page, 'I am sorry', 'Let them come back');
    await line(page, 'I am sorry').getByText('Banned').waitFor({ state: 'detached' });
  }, 60_000);

  test('[C-20] a question goes through the queue, which is the same for all at work', async () => {
    const { page } = owner;
    await chat(page).getByRole('tab', { name: 'Questions' }).click();
    await line(page, 'Good evening!').waitFor({ state: 'detached' });
    await press(page, 'Who made the music?', 'q');
    await chat(second).getByRole('tab', { name: 'Queue (1)' }).click();
    await expectUsable(second, 'queue');
    await inMenu(second, 'Who made the music?', 'Answered');
    await chat(second).getByText('Nothing is in the queue.').waitFor();
    await line(page, 'Who made the music?').getByText('Answered').waitFor();
    await chat(page).getByRole('tab', { name: 'All' }).click();
  }, 60_000);

  test('what somebody is at does not move away under them; what is new is said', async () => {
    const { page } = owner;
    await line(page, 'Who made the music?').focus();
    await page.keyboard.press('ArrowUp');
    await fan.sendMessage('message', 'One more');
    await button(page, '1 new line').waitFor();
    expect(await line(page, 'One more').count()).toBe(0);
    await button(page, '1 new line').press('Enter');
    await line(page, 'One more').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('fan: One more');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.ariaPosInSet')).toBe('2');
  }, 60_000);

  test('all keys are in one list, that a key opens', async () => {
    const { page } = owner;
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await expectUsable(page, 'shortcuts');
    await page.getByRole('switch', { name: '? opens this list' }).press('Space');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await button(page, 'Shortcuts').click();
    await page.getByRole('dialog').waitFor();
  }, 60_000);

  test('made no errors on the way', () => {
    expect(owner.errors).toEqual([]);
  });
});
