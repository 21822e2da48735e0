import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { LoggedMessage } from '../../protocol/history.ts';
import { join } from '../../sdk/join.ts';
import type { Viewer } from '../../sdk/viewer.ts';
import { axeViolations } from '../support/player/axe.ts';
import { SCREENS, SceneFixture } from '../support/player/scene-fixture.ts';
import { ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// A moderated chat, as viewers see it.

const chat = (page: Page) => page.getByRole('list', { name: 'Chat' });
const messageField = (page: Page) => page.getByRole('textbox');
const sendButton = (page: Page) => page.getByRole('button', { name: 'Send', exact: true });
const pinned = (page: Page) => page.getByRole('complementary', { name: 'Pinned' });
const isDisabled = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).getAttribute('aria-disabled');

describe('a scene with a moderated chat', () => {
  let fixture: SceneFixture;
  beforeAll(async () => {
    fixture = await SceneFixture.start();
  }, 30_000);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.close());

  test.each(['chat-slow', 'chat-paused', 'chat-pinned'])(
    'has no axe violations on phone and desktop: %s',
    async (scene) => {
      for (const screen of ['phone', 'desktop'] as const) {
        const page = await fixture.open(scene, screen, {
          colorScheme: screen === 'desktop' ? 'light' : 'dark',
        });
        await chat(page).getByText('Go Blue!').first().waitFor();
        expect([screen, await axeViolations(page)]).toEqual([screen, []]);
        expect(await chat(page).getByText('The sound is great today').count()).toBe(1);
        const { height = 0 } = (await chat(page).boundingBox()) ?? {};
        expect(height).toBeGreaterThan(60);
        await messageField(page).waitFor();
      }
    },
  );

  test('[C-15] the form counts down, keeps the text, and sends it after the wait', async () => {
    const page = await fixture.open('chat-slow');
    await page.getByText('Slow mode: one message every 10 s.').waitFor();
    await page.evaluate(`{
      const sendMessage = viewer.sendMessage;
      viewer.sendMessage = async () => {
        viewer.sendMessage = sendMessage;
        throw Object.assign(new Error('slow'), { name: 'FourbeatError', kind: 'busy', status: 429, retryAfterMs: 2_000 });
      };
    }`);
    await messageField(page).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('timer').getByText('Slow mode: you can write again in 2 s.').waitFor();
    expect(await isDisabled(page, 'Send')).toBe('true');
    await page.keyboard.press('Enter');
    expect(await page.evaluate<string[]>('viewer.calls')).toEqual([]);
    expect(await messageField(page).inputValue()).toBe('Hello');
    await page.getByText('Slow mode: one message every 10 s.').waitFor();
    await sendButton(page).click();
    await page.getByRole('timer').getByText('Slow mode: you can write again in 10 s.').waitFor();
    expect(await page.evaluate<string[]>('viewer.calls')).toEqual(['sendMessage message Hello']);
    expect(await messageField(page).inputValue()).toBe('');
  });

  test('[C-16] a hidden message disappears, also while the viewer has scrolled up', async () => {
    const page = await fixture.open('chat-slow', 'phone');
    await chat(page).evaluate((list) => {
      list.scrollTop = 0;
    });
    await page.getByRole('button', { name: 'Latest' }).waitFor();
    const message = chat(page).getByText('It must be the big one').first();
    await message.waitFor();
    await page.evaluate(
      "viewer.emit('event', { type: 'chat-hidden', data: { ids: ['message 4', 'message 12'] }, interval: 9e9 })",
    );
    await message.waitFor({ state: 'detached' });
  });

  test('[C-17] a long pinned message can be expanded', async () => {
    const landscape = await fixture.open('chat-pinned', 'landscape');
    expect((await chat(landscape).boundingBox())?.height ?? 0).toBeGreaterThan(60);
    const page = await fixture.open('chat-pinned', 'phone');
    const text = pinned(page).locator('p');
    const cutHeight = (await text.boundingBox())?.height ?? 0;
    await pinned(page).getByRole('button', { name: 'More' }).tap();
    await pinned(page).getByRole('button', { name: 'Less' }).waitFor();
    expect((await text.boundingBox())?.height ?? 0).toBeGreaterThan(cutHeight);
  });
});

describe('a show with a moderated chat', () => {
  let fixture: ShowFixture;
  let streamId: string;
  let session: WatchSession;
  let other: Viewer;
  let page: Page;

  beforeAll(async () => {
    fixture = await ShowFixture.start();
    streamId = await fixture.createStream();
    await fixture.studio('POST', `/streams/${streamId}/start`);
    other = join({ baseUrl: fixture.url, streamId, viewerId: 'bo', name: 'Bo', storage: null });
    session = await fixture.watch(streamId, SCREENS.phone);
    page = session.page;
    await page.getByText('No messages yet').waitFor();
  }, 60_000);
  afterAll(async () => {
    other?.leave();
    await fixture?.close();
  });

  const moderate = (method: string, path: string, body?: unknown) =>
    fixture.studio(method, `/streams/${streamId}${path}`, body);
  const messageWith = (text: string) =>
    until(`the message ${text}`, async () => {
      const { results } = await fixture.studio<{ results: LoggedMessage[] }>(
        'GET',
        `/streams/${streamId}/chat`,
      );
      return results.find((message) => message.text === text);
    });

  test('[C-16] [C-17] a pinned message is above the chat, and a hidden one disappears', async () => {
    await other.sendMessage('message', 'Buy my things');
    await other.sendMessage('question', 'When does it begin?');
    await chat(page).getByText('Buy my things').waitFor();
    const {
      interval: _interval,
      hidden: _hidden,
      ...question
    } = await messageWith('When does it begin?');
    await moderate('POST', '/chat/pin', { line: question });
    await pinned(page).getByText('When does it begin?').waitFor();
    const { id } = await messageWith('Buy my things');
    await moderate('POST', '/chat/hidden', { ids: [id] });
    await chat(page).getByText('Buy my things').waitFor({ state: 'detached' });
    await moderate('PATCH', '/chat', { slowModeMs: 60_000 });
    await page.getByText('Slow mode: one message every 1 min.').waitFor();
  }, 30_000);

  test('[C-22] a late viewer and a reloaded page have the current moderation state', async () => {
    const late = await fixture.watch(streamId, SCREENS.desktop);
    await pinned(late.page).getByText('When does it begin?').waitFor();
    await late.page.getByText('Slow mode: one message every 1 min.').waitFor();
    await page.reload();
    await pinned(page).getByText('When does it begin?').waitFor();
    await page.getByText('Slow mode: one message every 1 min.').waitFor();
    await late.context.close();
  }, 30_000);

  test('[C-14] [C-15] [C-18] a viewer who cannot write sees the reason', async () => {
    await messageField(page).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByLabel('Your name, shown with your messages').fill('Ada');
    await page.keyboard.press('Enter');
    await page
      .getByRole('timer')
      .getByText(/Slow mode: you can write again in (1 min|\d+ s)/)
      .waitFor();
    await moderate('PATCH', '/chat', { slowModeMs: 0, paused: true });
    await page.getByText('The chat is paused.').waitFor();
    expect(await isDisabled(page, 'Send a heart')).toBe('true');
    const { viewer } = await messageWith('Hello');
    await moderate('POST', `/chat/muted/${viewer}`, {});
    await moderate('PATCH', '/chat', { paused: false });
    await page.getByText('The chat is paused.').waitFor({ state: 'detached' });
    await messageField(page).fill('And another thing');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('You are muted in this chat.').waitFor();
    expect(await messageField(page).inputValue()).toBe('And another thing');
  }, 30_000);

  test('[C-19] a banned viewer sees a notice and sends no requests, also after a reload', async () => {
    const { viewer } = await messageWith('Hello');
    await moderate('POST', `/banned/${viewer}`, {});
    await page.getByRole('heading', { name: 'You cannot watch this show' }).waitFor();
    expect(await requestsSentNow()).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { name: 'You cannot watch this show' }).waitFor();
    expect(await requestsSentNow()).toEqual([]);
    expect(session.errors).toEqual([]);
  }, 30_000);

  /** @returns the URLs that the page requests in the time of several heartbeats */
  async function requestsSentNow(): Promise<string[]> {
    const urls: string[] = [];
    // Pending requests may end first.
    await Bun.sleep(300);
    page.on('request', (request) => urls.push(request.url()));
    await Bun.sleep(3_000);
    return urls;
  }
});
