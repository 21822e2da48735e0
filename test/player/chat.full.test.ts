import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { HEARTS_ON_SCREEN_MAX } from '../../player/audience/heart-animation.ts';
import type { Snapshot } from '../../sdk/viewer.ts';
import { axeViolations } from '../support/player/axe.ts';
import { messagesOf } from '../support/player/pages/chat-scenes.ts';
import { SceneFixture } from '../support/player/scene-fixture.ts';
import { callsOf, updateSnapshot } from '../support/player/scene-page.ts';
import { isPaintedOn, STACKED, stackedMarks } from '../support/web/stacked-marks.ts';

let fixture: SceneFixture;

beforeAll(async () => {
  fixture = await SceneFixture.start();
}, 30_000);
afterEach(() => fixture.closePages());
afterAll(() => fixture?.close());

const messageField = (page: Page) => page.getByRole('textbox', { name: /^(Write|Ask|Say|Cheer)/ });
const chat = (page: Page) => page.getByRole('list', { name: 'Chat' });

describe('the chat form', () => {
  test('sends a message without a name, when the viewer skips it', async () => {
    const page = await fixture.open('live');
    await messageField(page).fill('Hello');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('button', { name: 'Skip' }).click();
    await page.getByText('Posting without a name').waitFor();
    expect(await callsOf(page)).toEqual(['sendMessage message Hello']);
  });

  test('changes the name, and keeps the unfinished message', async () => {
    const page = await fixture.open('chat-messages');
    await messageField(page).fill('Half a li');
    await page.getByRole('button', { name: 'Posting as Ada · change' }).click();
    await page.getByLabel('Your name, shown with your messages').fill('Countess');
    await page.keyboard.press('Enter');
    await page.getByText('Posting as Countess').waitFor();
    expect(await callsOf(page)).toEqual([]);
    await page.keyboard.type('ne');
    await page.keyboard.press('Enter');
    await chat(page).getByText('Countess Half a line').waitFor();
    expect(await callsOf(page)).toEqual(['sendMessage message Half a line']);
  });

  test('changes a name that the host page has set, and does not send the unfinished message', async () => {
    const page = await fixture.open('live');
    await page.evaluate("viewer.name = 'Outside'");
    await messageField(page).fill('Half a li');
    await page.getByRole('button', { name: 'Posting as Outside · change' }).click();
    await page.getByLabel('Your name, shown with your messages').fill('Countess');
    await page.keyboard.press('Enter');
    await page.getByText('Posting as Countess').waitFor();
    expect(await callsOf(page)).toEqual([]);
    expect(await messageField(page).inputValue()).toBe('Half a li');
  });

  test('does not take the focus back when a message has been sent', async () => {
    const page = await fixture.open('chat-messages');
    await page.evaluate(
      'viewer.sendMessage = () => new Promise((done) => { globalThis.resolveSend = done; })',
    );
    await messageField(page).fill('Slow');
    await page.keyboard.press('Enter');
    const heart = page.getByRole('button', { name: 'Send a heart' });
    await heart.focus();
    await page.evaluate('resolveSend()');
    await chat(page).getByText('Sent, visible soon').waitFor();
    expect(await page.evaluate<string>('document.activeElement.textContent')).toContain('heart');
  });

  test('selects the kind of message by keyboard', async () => {
    const page = await fixture.open('chat-messages');
    await page.getByRole('radio', { name: 'Message' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.type('When is the next one?');
    await page.keyboard.press('Enter');
    await chat(page).getByText('When is the next one?').waitFor();
    expect(await callsOf(page)).toEqual(['sendMessage question When is the next one?']);
  });

  test('shows a sent message at once, and only once when the feed has it', async () => {
    const page = await fixture.open('chat-messages');
    await messageField(page).fill('Mine');
    await page.keyboard.press('Enter');
    await chat(page).getByText('Sent, visible soon').waitFor();
    expect(await messageField(page).inputValue()).toBe('');
    const mine = { id: 'mine', viewer: 'v', name: 'Ada', text: 'Mine', at: 1, kind: 'message' };
    await updateSnapshot(page, { messages: [...messagesOf(16), mine] as Snapshot['messages'] });
    await chat(page).getByText('Sent, visible soon').waitFor({ state: 'detached' });
    expect(await chat(page).getByText('Mine').count()).toBe(1);
  });

  test('shows each sent message for 30 s, when the feed never has it', async () => {
    const page = await fixture.open('chat-messages');
    await page.clock.install();
    await page.reload();
    await messageField(page).waitFor();
    const sentNote = chat(page).getByText('Sent, visible soon');
    for (const text of ['My first', 'My next']) {
      await messageField(page).fill(text);
      await page.keyboard.press('Enter');
      await chat(page).getByText(text).waitFor();
      await page.clock.runFor(20_000);
    }
    await chat(page).getByText('My first').waitFor({ state: 'detached' });
    expect(await chat(page).getByText('My next').count()).toBe(1);
    await page.clock.runFor(10_000);
    await sentNote.waitFor({ state: 'detached' });
  });

  test('does not send a text that is too long, and shows by how much', async () => {
    const page = await fixture.open('chat-messages');
    await messageField(page).fill('a'.repeat(283));
    await page.getByText('3 too many').waitFor();
    await page.keyboard.press('Enter');
    expect(await callsOf(page)).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'has no axe violations in any of its steps: %s',
    async (colorScheme) => {
      const page = await fixture.open('chat-empty', 'phone', { colorScheme });
      await messageField(page).fill('Hello');
      await page.keyboard.press('Enter');
      await page.getByLabel('Your name, shown with your messages').fill('Ada');
      expect(await axeViolations(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await chat(page).getByText('Sent, visible soon').waitFor();
      await page.evaluate('viewer.sendMessage = () => Promise.reject(new Error("unavailable"))');
      await messageField(page).fill('a'.repeat(270));
      await page.keyboard.press('Enter');
      await page.getByRole('alert').getByText('Cannot connect.').waitFor();
      await page.getByRole('button', { name: 'Read new messages aloud' }).focus();
      expect(await axeViolations(page)).toEqual([]);
    },
  );

  test('disappears when the show is over', async () => {
    const page = await fixture.open('chat-over');
    await page.getByText('The show is over. The chat is closed.').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  });
});

describe('the chat log', () => {
  const text = (page: Page, words: string) => chat(page).getByText(words);
  const inList = <T>(page: Page, expression: string) =>
    page.evaluate<T>(`(list => ${expression})(document.querySelector('ol[aria-label="Chat"]'))`);
  const isAtEnd = (page: Page) =>
    inList<boolean>(page, 'list.scrollHeight - list.scrollTop - list.clientHeight < 2');

  test('shows the newest messages, unless the viewer has scrolled up', async () => {
    const page = await fixture.open('chat-messages', 'phone');
    await updateSnapshot(page, { messages: messagesOf(40) });
    expect(await isAtEnd(page)).toBe(true);
    await inList(page, 'list.scrollTop = 0');
    const newest = page.getByRole('button', { name: /^(Latest|New messages)$/ });
    await newest.waitFor();
    await updateSnapshot(page, { messages: messagesOf(140).slice(40) });
    await page.getByRole('button', { name: 'New messages', exact: true }).waitFor();
    expect(await inList<number>(page, 'list.scrollTop')).toBe(0);
    expect(await chat(page).getByRole('listitem').count()).toBe(41);
    await newest.click();
    await newest.waitFor({ state: 'detached' });
    expect(await isAtEnd(page)).toBe(true);
    expect(await chat(page).getByRole('listitem').count()).toBe(100);
  });

  test.each([
    ['phone', 390, 844],
    ['small phone', 360, 640],
    ['phone in landscape', 844, 390],
  ] as const)('does not make the page larger than the window: %s', async (_, width, height) => {
    const page = await fixture.open('chat-messages', 'phone', { viewport: { width, height } });
    await updateSnapshot(page, { messages: messagesOf(100) });
    await chat(page).getByRole('listitem').nth(99).waitFor();
    const size = await page.evaluate<number[]>(
      '(({ scrollWidth, scrollHeight }) => [scrollWidth, scrollHeight])(document.documentElement)',
    );
    expect(size).toEqual([width, height]);
  });

  test('has each message in its place, also one with marks that stack up on a letter', async () => {
    const page = await fixture.open('chat-messages');
    const [first, second, ...others] = messagesOf(4);
    if (!first || !second) throw new Error('there are four messages');
    const marked = { ...second, name: stackedMarks(40), text: stackedMarks(280) };
    await updateSnapshot(page, { messages: [...others, first, marked] });
    const items = chat(page).getByRole('listitem');
    const lastItem = items.filter({ hasText: STACKED });
    await lastItem.waitFor();
    const above = items.filter({ hasText: first.text });
    expect(await isPaintedOn(above, lastItem)).toBe(false);
  });

  test('is readable at 400% zoom', async () => {
    const page = await fixture.open('chat-messages', 'desktop', {
      viewport: { width: 320, height: 256 },
    });
    const { height = 0 } = (await chat(page).boundingBox()) ?? {};
    // Two lines of text with their padding.
    expect(height).toBeGreaterThan(60);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(320);
  });

  test('has cards for purchases and discounts, and starts anew after a jump in the video', async () => {
    const page = await fixture.open('chat-messages');
    await text(page, '10 used').waitFor();
    expect(await text(page, 'bought two mugs').count()).toBeGreaterThan(0);
    await updateSnapshot(page, { messages: [] });
    await updateSnapshot(page, { discounts: 17 });
    await text(page, '2 used').waitFor();
    await page.evaluate("viewer.emit('jump', { interval: 7160000000 })");
    await text(page, '2 used').waitFor({ state: 'detached' });
    await updateSnapshot(page, { discounts: 18 });
    await text(page, '1 used').waitFor();
  });

  test('animates single messages, but not many at once', async () => {
    const page = await fixture.open('chat-messages', 'phone', { reducedMotion: 'no-preference' });
    const newest = chat(page).getByRole('listitem').last();
    const isAnimated = async () => (await newest.getAttribute('class'))?.includes('appears');
    await updateSnapshot(page, { messages: messagesOf(40) });
    expect(await isAnimated()).toBe(false);
    await updateSnapshot(page, { messages: messagesOf(41) });
    expect(await isAnimated()).toBe(true);
    await updateSnapshot(page, { messages: messagesOf(80) });
    expect(await isAnimated()).toBe(false);
  });

  test('is announced every 8 s, until the button turns it off', async () => {
    const page = await fixture.open('live');
    await page.clock.install();
    await page.reload();
    await page.getByRole('main').waitFor();
    const announcement = page.getByRole('status').getByText(/says:|new messages/);
    await updateSnapshot(page, { messages: messagesOf(2).slice(1) });
    await page.clock.runFor(8_000);
    await announcement.getByText('Bo says: The sound is great today').waitFor();
    await updateSnapshot(page, { messages: messagesOf(20) });
    await page.clock.runFor(8_000);
    await announcement.getByText('18 new messages in the chat, 3 of them questions.').waitFor();
    await page.getByRole('button', { name: 'Read new messages aloud' }).press('Enter');
    await announcement.waitFor({ state: 'detached' });
  });
});

describe('hearts', () => {
  const heartsOnScreen = (page: Page) => page.locator('.floating--stage .floating-heart').count();

  test('float over the video, at most 24 at once', async () => {
    const page = await fixture.open('live', 'phone', { reducedMotion: 'no-preference' });
    for (let hearts = 1_000; hearts <= 20_000; hearts += 1_000)
      await updateSnapshot(page, { hearts });
    expect(await heartsOnScreen(page)).toBe(HEARTS_ON_SCREEN_MAX);
    await page.waitForFunction("!document.querySelector('.floating--stage .floating-heart')");
  });

  test('are a number with reduced motion', async () => {
    const page = await fixture.open('live', 'phone');
    await updateSnapshot(page, { hearts: 1_234 });
    await page.locator('.heart-number').getByText('1.2K').waitFor();
    expect(await heartsOnScreen(page)).toBe(0);
  });

  test('are sent by a button, which confirms how many were sent', async () => {
    const page = await fixture.open('live', 'phone');
    const button = page.getByRole('button', { name: 'Send a heart' });
    await button.tap();
    await button.press('Enter');
    await page.getByRole('status').getByText('2 hearts sent').waitFor();
    expect(await callsOf(page)).toEqual(['sendHeart', 'sendHeart']);
  });

  test('count once when the viewer seeks back', async () => {
    const page = await fixture.open('live');
    const heartCount = page.locator('.audience-hearts');
    const showInterval = (interval: number, hearts: number, total: number) =>
      page.evaluate(`
        viewer.show({ hearts: ${total} });
        viewer.emit('interval', {
          interval: ${interval},
          events: [{ type: 'chats', data: { hearts: ${hearts} } }],
        })`);
    await showInterval(100, 3, 3);
    await showInterval(101, 4, 7);
    await heartCount.getByText('7', { exact: true }).first().waitFor();
    await showInterval(101, 4, 11);
    await showInterval(102, 1, 12);
    await heartCount.getByText('8', { exact: true }).first().waitFor();
  });
});
