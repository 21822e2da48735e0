import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import type { Viewer } from '../../sdk/viewer.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// Moderation on the on-air page, with its effects for viewers and for a second host. Each test
// continues where the previous one stopped.

/** How long the studio waits before it sends the hiding of a message, ms. */
const UNDO_MS = 5_000;

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;
/** The studio of a second host. */
let second: Page;
let troll: Viewer;
let fan: Viewer;
/** The page of another viewer. */
let viewerPage: Page;
/** The events that the fan received, by type. */
const received: Record<string, unknown[]> = {
  'chat-hidden': [],
  'chat-pinned': [],
  'chat-mode': [],
};

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const show = { title: 'A lively chat' };
  const { id } = await fixture.call<{ id: string }>(owner, 'POST', '/streams', show);
  streamId = id;
  await fixture.call(owner, 'POST', `/streams/${id}/start`);
  troll = fixture.joinViewer(id, 'troll');
  fan = fixture.joinViewer(id, 'fan');
  for (const [type, all] of Object.entries(received)) fan.on(type, (data) => all.push(data));
  ({ page: viewerPage } = await fixture.openViewerPage(id));
  const onAir = `/studio/streams/${id}/on-air`;
  const session = await owner.context.storageState();
  ({ page: second } = await fixture.open(onAir, { storageState: session }));
  await owner.page.goto(fixture.url + onAir);
  await troll.sendMessage('message', 'Buy my coins');
  await fan.sendMessage('question', 'Who made the music?');
  await fan.sendMessage('message', 'Good evening!');
}, 60_000);
afterAll(() => fixture?.close());

const chat = (page: Page) => page.getByRole('region', { name: 'Chat', exact: true });
/** The choice of slow mode in the open chat settings. */
const slowMode = (page: Page) =>
  page.getByRole('dialog').getByRole('button', { name: /Slow mode/ });
const message = (page: Page, text: string): Locator =>
  chat(page).getByRole('article').filter({ hasText: text });

async function selectInMenu(page: Page, text: string, item: string): Promise<void> {
  const menu = message(page, text).getByRole('button', { name: /^Actions for/ });
  await menu.click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
  await page.mouse.move(0, 0);
}

/** Focuses a message, presses a key and removes the focus; `b` opens a dialog, which keeps it. */
async function press(page: Page, text: string, key: string): Promise<void> {
  await message(page, text).focus();
  await page.keyboard.press(key);
  if (key !== 'b') await page.evaluate('document.activeElement.blur()');
}

describe('chat moderation', () => {
  test('[B-15] hiding a message can be undone, by its button and its key', async () => {
    const { page } = owner;
    const greeting = message(page, 'Good evening!');
    await greeting.getByRole('button', { name: 'Hide the message from fan' }).click();
    await greeting.getByText('Hiding…').waitFor();
    await page.waitForTimeout(800); // An earlier press belongs to a double click.
    await greeting.getByRole('button', { name: /^Undo/ }).click();
    await greeting.getByText('Hiding…').waitFor({ state: 'detached' });
    await press(page, 'Good evening!', 'h');
    await greeting.getByText('Hiding…').waitFor();
    await page.waitForTimeout(800);
    await press(page, 'Good evening!', 'h');
    await greeting.getByText('Hiding…').waitFor({ state: 'detached' });
    await page.waitForTimeout(UNDO_MS);
    expect(received['chat-hidden']).toEqual([]);
    await viewerPage.getByRole('list', { name: 'Chat' }).getByText('Good evening!').waitFor();
  }, 60_000);

  test('[C-16] one press hides a message for viewers and marks it for all hosts', async () => {
    const { page } = owner;
    const bad = message(page, 'Buy my coins');
    const seen = viewerPage.getByRole('list', { name: 'Chat' });
    await seen.getByText('Buy my coins').waitFor();
    const hide = bad.getByRole('button', { name: 'Hide the message from troll' });
    await hide.dblclick();
    await bad.getByText('Hiding…').waitFor();
    await expectUsable(page, 'hiding');
    await bad.getByText('Hidden').waitFor();
    await message(second, 'Buy my coins').getByText('Hidden').waitFor();
    const id = fan.snapshot.messages.find(({ text }) => text === 'Buy my coins')?.id;
    await until('a message is hidden', () => received['chat-hidden']?.length === 1);
    expect(received['chat-hidden']).toEqual([{ ids: [id] }]);
    await seen.getByText('Buy my coins').waitFor({ state: 'detached' });
    await seen.getByText('Good evening!').waitFor();
    await second.reload();
    await message(second, 'Buy my coins').getByText('Hidden').waitFor();
  }, 60_000);

  test('[C-17] a key pins a message and another host unpins it', async () => {
    const { page } = owner;
    await press(page, 'Good evening!', 'p');
    const unpinButton = button(second, 'Unpin message');
    await unpinButton.waitFor();
    await message(second, 'Good evening!').getByText('Pinned').waitFor();
    const seen = viewerPage.getByRole('complementary', { name: 'Pinned' });
    await seen.getByText('Good evening!').waitFor();
    await until('a message is pinned', () => received['chat-pinned']?.length === 1);
    await expectUsable(page, 'moderation');
    await unpinButton.click();
    await button(page, 'Unpin message').waitFor({ state: 'detached' });
    await seen.waitFor({ state: 'detached' });
    await until('the message is unpinned', () => received['chat-pinned']?.length === 2);
    expect(received['chat-pinned']).toMatchObject([
      { line: { text: 'Good evening!' } },
      { line: null },
    ]);
  }, 60_000);

  test('[C-13] [C-14] slow mode and pause reach viewers and all hosts', async () => {
    const { page } = owner;
    await button(page, 'Chat settings').click();
    await slowMode(page).click();
    await page.getByRole('option', { name: '1 message per 30 s' }).click();
    await button(page, 'Close').click();
    await button(second, 'Chat settings').click();
    await slowMode(second).getByText('1 message per 30 s').waitFor();
    await button(second, 'Close').click();
    await chat(second).getByText('Pause chat', { exact: true }).click();
    await chat(page).getByRole('switch', { name: 'Pause chat', checked: true }).waitFor();
    expect(await fan.sendMessage('message', 'Hello?').catch(() => 'refused')).toBe('refused');
    const paused = (isOn: boolean) =>
      chat(page).getByRole('switch', { name: 'Pause chat', checked: isOn });
    await paused(true).and(page.locator(':enabled')).waitFor();
    await chat(page).getByText('Pause chat', { exact: true }).click();
    await paused(false).waitFor();
    await chat(second).getByRole('switch', { name: 'Pause chat', checked: false }).waitFor();
    // Another host takes the change back.
    await chat(second).getByText('Pause chat', { exact: true }).click();
    await paused(true).and(page.locator(':enabled')).waitFor();
    await chat(page).getByText('Pause chat', { exact: true }).click();
    await button(page, 'Chat settings').click();
    await slowMode(page).click();
    await page.getByRole('option', { name: 'Slow mode off' }).click();
    await button(page, 'Close').click();
    // A mouse over the chat would hold new messages back.
    await page.mouse.move(0, 0);
    await until('all changes are received', () => received['chat-mode']?.length === 6);
    expect(received['chat-mode']).toEqual([
      { slowModeMs: 30_000, paused: false },
      { slowModeMs: 30_000, paused: true },
      { slowModeMs: 30_000, paused: false },
      { slowModeMs: 30_000, paused: true },
      { slowModeMs: 30_000, paused: false },
      { slowModeMs: 0, paused: false },
    ]);
  }, 60_000);

  test('[C-18] a key mutes a viewer, who can write again after an unmute', async () => {
    const { page } = owner;
    await press(page, 'Buy my coins', 'm');
    await page.getByText('troll is muted for 10 minutes.').waitFor();
    await second.getByRole('article', { name: 'troll: Buy my coins, Hidden, Muted' }).waitFor();
    expect(await troll.sendMessage('message', 'More coins').catch(() => 'refused')).toBe('refused');
    await button(second, 'Chat settings').click();
    await second
      .getByRole('dialog')
      .getByText(/^Muted until .*, by Ann$/)
      .waitFor();
    await expectUsable(second, 'restricted');
    await second.getByRole('button', { name: 'Unmute – troll' }).click();
    await second.getByText(/^No muted or banned viewers/).waitFor();
    await button(second, 'Close').click();
    await message(page, 'Buy my coins').getByText('Muted').waitFor({ state: 'detached' });
    await troll.sendMessage('message', 'I am sorry');
    await message(page, 'I am sorry').waitFor();
  }, 60_000);

  test('[C-19] a ban asks for confirmation, hides the viewer’s messages, and the viewer no longer counts', async () => {
    const { page } = owner;
    const count = page.getByRole('region', { name: 'Audience' });
    await count.getByText('3', { exact: true }).waitFor();
    await selectInMenu(page, 'I am sorry', 'Ban…');
    await button(page, 'Cancel').click();
    await viewerPage.getByRole('list', { name: 'Chat' }).getByText('I am sorry').waitFor();
    await press(page, 'I am sorry', 'b');
    await page.getByRole('alertdialog').getByText('Ban troll?').waitFor();
    await expectUsable(page, 'ban');
    await button(page, 'Ban').click();
    await message(page, 'I am sorry').getByText('Banned').waitFor();
    // The ban hides what the viewer wrote.
    await message(page, 'I am sorry').getByText('Hidden').waitFor();
    const seen = viewerPage.getByRole('list', { name: 'Chat' });
    await seen.getByText('I am sorry').waitFor({ state: 'detached' });
    await seen.getByText('Good evening!').waitFor();
    await count.getByText('2', { exact: true }).waitFor();
    expect(await troll.sendMessage('message', 'Hello?').catch(() => 'refused')).toBe('refused');
    await selectInMenu(page, 'I am sorry', 'Lift ban');
    await message(page, 'I am sorry').getByText('Banned').waitFor({ state: 'detached' });
  }, 60_000);

  test('[C-20] all hosts share the question queue', async () => {
    const { page } = owner;
    await chat(page).getByRole('tab', { name: 'Questions' }).click();
    await message(page, 'Good evening!').waitFor({ state: 'detached' });
    await press(page, 'Who made the music?', 'q');
    await chat(second).getByRole('tab', { name: 'Queue (1)' }).click();
    await expectUsable(second, 'queue');
    await selectInMenu(second, 'Who made the music?', 'Mark as answered');
    await chat(second).getByText('No open questions.').waitFor();
    await message(page, 'Who made the music?').getByText('Answered').waitFor();
    await chat(page).getByRole('tab', { name: 'All' }).click();
  }, 60_000);

  test('the chat holds still during keyboard use and announces new messages', async () => {
    const { page } = owner;
    await message(page, 'Who made the music?').focus();
    await page.keyboard.press('ArrowUp');
    await fan.sendMessage('message', 'One more');
    await button(page, '1 new message').waitFor();
    expect(await message(page, 'One more').count()).toBe(0);
    await button(page, '1 new message').press('Enter');
    await message(page, 'One more').waitFor();
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('fan: One more');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.ariaPosInSet')).toBe('2');
  }, 60_000);

  test('[B-15] a message is hidden at once when its host leaves the page', async () => {
    const { page } = owner;
    await chat(second).getByRole('tab', { name: 'All' }).click();
    await press(second, 'One more', 'h');
    await message(second, 'One more').getByText('Hiding…').waitFor();
    await second.goto('about:blank');
    // The page is gone: no timer of it can send this later.
    await message(page, 'One more').getByText('Hidden').waitFor();
  }, 60_000);

  test('[L-8] a page reads what others moderate every 5 s at most', async () => {
    const { page } = owner;
    const reads: string[] = [];
    page.on('request', (request) => reads.push(new URL(request.url()).pathname));
    const readsOfViewers = () => reads.filter((path) => path.endsWith('/restricted')).length;
    const { viewer } = fan.snapshot.messages.find(({ text }) => text === 'One more') ?? {};
    // The pause after an earlier read is over.
    await Bun.sleep(6_000);
    for (let minutes = 1; minutes <= 8; minutes++) {
      await fixture.call(owner, 'POST', `/streams/${streamId}/chat/muted/${viewer}`, { minutes });
      await Bun.sleep(500);
    }
    expect(readsOfViewers()).toBeWithin(1, 3);
    await until('the last change is read', () => readsOfViewers() === 2);
  }, 60_000);

  test('a key opens the list of shortcuts', async () => {
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

  test('the page logged no errors', () => {
    expect(owner.errors).toEqual([]);
  });
});
