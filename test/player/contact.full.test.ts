import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { WinnersRound } from '../../protocol/studio.ts';
import type { WinnerContact } from '../../protocol/winner-contacts.ts';
import { axeViolations } from '../support/player/axe.ts';
import { SCREENS, SceneFixture } from '../support/player/scene-fixture.ts';
import { FAST_POLLING, ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// How a winner gives the host its contact details.

const notice = (page: Page) => page.getByRole('complementary', { name: 'Your win' });
const codeRow = (page: Page) => page.getByRole('complementary', { name: 'Your code as a winner' });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'How can the host reach you?' });
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const deletion = (page: Page) => page.getByRole('dialog', { name: 'Delete your contact details?' });
const send = (page: Page) => dialog(page).getByRole('button', { name: 'Send' }).click();

describe('a scene with a winner', () => {
  let fixture: SceneFixture;
  beforeAll(async () => {
    fixture = await SceneFixture.start();
  }, 30_000);
  afterEach(() => fixture.closePages());
  afterAll(() => fixture?.close());

  test('the notice and the form have no axe violations, on phone and desktop, light and dark', async () => {
    for (const [screen, colorScheme] of [
      ['phone', 'light'],
      ['landscape', 'dark'],
      ['desktop', 'dark'],
    ] as const) {
      const page = await fixture.open('contact', screen, { colorScheme });
      await notice(page).waitFor();
      expect([screen, await axeViolations(page)]).toEqual([screen, []]);
      await click(page, 'Answer');
      await dialog(page).waitFor();
      expect([screen, await axeViolations(page)]).toEqual([screen, []]);
    }
  }, 30_000);

  test('[W-14] a winner who is not asked any more deletes what is stored, by keyboard', async () => {
    for (const [screen, colorScheme] of [
      ['phone', 'light'],
      ['desktop', 'dark'],
    ] as const) {
      const page = await fixture.open('contact-stored', screen, { colorScheme });
      await notice(page).getByText('The host still has your contact details.').waitFor();
      expect([screen, await axeViolations(page)]).toEqual([screen, []]);
      await notice(page).getByRole('button', { name: 'Delete' }).focus();
      await page.keyboard.press('Enter');
      await deletion(page).getByText('The host no longer asks for them').waitFor();
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
      expect([screen, await axeViolations(page)]).toEqual([screen, []]);
      expect(await page.getByRole('textbox', { name: 'Your name' }).count()).toBe(0);
      await page.keyboard.press('Escape');
      await deletion(page).waitFor({ state: 'hidden' });
      // The browser reports the close after it has hidden the dialog.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
      await page.keyboard.press('Enter');
      await page.waitForFunction("document.activeElement.textContent === 'Cancel'");
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await notice(page).waitFor({ state: 'detached' });
      await page.getByText('Your contact details are deleted.').waitFor({ state: 'attached' });
    }
  }, 30_000);

  test('[W-14] a winner who is asked about another win can delete what it sent before', async () => {
    const page = await fixture.open('contact-again', 'phone');
    await notice(page).getByText('You won! How can the host reach you?').waitFor();
    await click(page, 'Answer');
    await dialog(page).getByText('for an earlier win in this show').waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await dialog(page).getByRole('button', { name: 'Delete' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
    await click(page, 'Answer');
    await dialog(page).waitFor();
    expect(await dialog(page).getByRole('button', { name: 'Delete' }).count()).toBe(0);
  });

  test('[W-15] a winner of any round gets the notice of a request a minute after the end of the show', async () => {
    const page = await fixture.open('contact-later', 'phone');
    // The first read of the page, which finds nothing.
    await Bun.sleep(2_200);
    await page.clock.install();
    await page.evaluate(`viewer.show({ winners: { isWinning: null, hasWon: false, count: 1 } })`);
    await page.evaluate(`viewer.show({ state: 'ended' })`);
    await page.clock.runFor(64_000);
    await notice(page).getByText('You won! How can the host reach you?').waitFor();
  });

  test('the form has the name of the chat, needs a contact, and Escape closes it', async () => {
    const page = await fixture.open('contact', 'phone');
    await click(page, 'Answer');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada');
    await send(page);
    await dialog(page).waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await click(page, 'Answer');
    await page.getByLabel('E-mail address or phone number').fill('ada@example.org');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'hidden' });
    await notice(page).getByText('The host knows how to reach you.').waitFor();
  });

  test('a quiz closes the form, which keeps what was typed', async () => {
    const page = await fixture.open('contact', 'phone');
    await click(page, 'Answer');
    const field = page.getByLabel('E-mail address or phone number');
    await field.fill('ada@exam');
    await page.evaluate(`viewer.emit('quiz', {})`);
    await dialog(page).waitFor({ state: 'hidden' });
    await click(page, 'Answer');
    expect(await field.inputValue()).toBe('ada@exam');
  });

  test('what cannot be sent stays in the form, with the reason', async () => {
    const page = await fixture.open('contact-failing', 'phone');
    await click(page, 'Answer');
    const field = page.getByLabel('E-mail address or phone number');
    await field.fill('ada@example.org');
    await send(page);
    await dialog(page).getByRole('alert').getByText('This could not be sent.').waitFor();
    expect(await field.inputValue()).toBe('ada@example.org');
  });

  test('a winner deletes what it sent, and closes the notice', async () => {
    const page = await fixture.open('contact-sent', 'desktop');
    await click(page, 'Change');
    await click(page, 'Delete');
    await notice(page).getByText('You won! How can the host reach you?').waitFor();
    await click(page, 'Close this notice');
    await notice(page).waitFor({ state: 'detached' });
  });
});

describe('a show whose winners are asked', () => {
  let fixture: ShowFixture;
  let streamId: string;
  let session: WatchSession;
  let round: WinnersRound;
  beforeAll(async () => {
    fixture = await ShowFixture.start();
    streamId = await fixture.createStream();
    await fixture.studio('POST', `/streams/${streamId}/start`);
    session = await fixture.watch(streamId, SCREENS.phone);
    await session.page.getByText('No messages yet').waitFor();
  }, 60_000);
  afterAll(() => fixture?.close());

  const studio = <T>(method: string, path: string, body?: unknown) =>
    fixture.studio<T>(method, `/streams/${streamId}${path}`, body);
  const contacts = async () =>
    (await studio<{ results: WinnerContact[] }>('GET', `/winners-rounds/${round.id}/contacts`))
      .results;

  test('[W-14] a winner is asked, sends its details, and the host reads them', async () => {
    const { page } = session;
    const quiz = await fixture.publishQuiz(streamId, { duration: 3_000 });
    await page.getByRole('button', { name: /Jupiter/ }).click();
    await page.getByText('Correct!').first().waitFor();
    expect(quiz.id).not.toBe('');
    round = await studio('POST', '/request-winners');
    await page
      .getByText(/You won/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await codeRow(page).waitFor();
    expect(await notice(page).count()).toBe(0);
    const note = 'Where may we send your prize?';
    await studio('POST', `/winners-rounds/${round.id}/contact-request`, { note });
    await click(page, 'Answer');
    await dialog(page).getByText(note).waitFor();
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('E-mail address or phone number').fill('ada@example.org');
    await send(page);
    await notice(page).getByText('The host knows how to reach you.').waitFor();
    expect(await contacts()).toMatchObject([{ name: 'Ada Lovelace', contact: 'ada@example.org' }]);
  }, 60_000);

  test('[W-14] after a reload, and after the end of the show, the winner changes and deletes them', async () => {
    const { page } = session;
    await page.reload();
    await click(page, 'Change');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Ada Lovelace');
    await page.getByLabel('E-mail address or phone number').fill('+44 20 7946 0000');
    await send(page);
    await dialog(page).waitFor({ state: 'hidden' });
    await until('the change is stored', async () =>
      (await contacts()).some(({ contact }) => contact === '+44 20 7946 0000'),
    );
    await studio('POST', '/end');
    await page.reload();
    await click(page, 'Change');
    await click(page, 'Delete');
    await dialog(page).waitFor({ state: 'hidden' });
    await until('the details are erased', async () => (await contacts()).length === 0);
  }, 60_000);

  test('[W-13] a winner sees its code after reloads and the end of the show, also if its video had not reached the win', async () => {
    const { page } = session;
    const code = await codeRow(page).innerText();
    await page.evaluate(`localStorage.removeItem('fourbeat-won-${streamId}')`);
    await page.reload();
    await codeRow(page).waitFor();
    await notice(page).getByText('You won! How can the host reach you?').waitFor();
    expect(await codeRow(page).innerText()).toBe(code);
    expect(code).toMatch(/[A-Z]{4}-[2-9]{4}/);
  }, 60_000);

  test('[W-14] details that the host no longer asks for can be deleted after a reload', async () => {
    const { page } = session;
    await studio('POST', `/winners-rounds/${round.id}/contact-request`, { note: 'Who are you?' });
    await page.reload();
    await click(page, 'Answer');
    await page.getByLabel('Your name').fill('Ada Lovelace');
    await page.getByLabel('E-mail address or phone number').fill('ada@example.org');
    await send(page);
    await notice(page).getByText('The host knows how to reach you.').waitFor();
    const request = `/streams/${streamId}/winners-rounds/${round.id}/contact-request`;
    expect((await fixture.call('DELETE', request)).status).toBe(204);
    await page.reload();
    await click(page, 'Delete');
    expect(await contacts()).toHaveLength(1);
    await deletion(page).getByRole('button', { name: 'Delete' }).click();
    await notice(page).waitFor({ state: 'detached' });
    expect(await contacts()).toEqual([]);
  }, 60_000);

  test('[W-15] an open page of a winner says that it is asked after the end of the show', async () => {
    const { page } = session;
    await page.addInitScript(FAST_POLLING);
    await page.reload();
    await page.getByText('The show is over. The chat is closed.').waitFor();
    // The first read of the page comes before the request.
    await Bun.sleep(2_500);
    expect(await notice(page).count()).toBe(0);
    await studio('POST', `/winners-rounds/${round.id}/contact-request`, { note: 'Who are you?' });
    await notice(page).getByText('You won! How can the host reach you?').waitFor();
  }, 60_000);

  test('[W-14] a viewer who did not win asks for nothing', async () => {
    const other = await fixture.watch(streamId, SCREENS.desktop);
    const requests: string[] = [];
    other.page.on('request', (request) => requests.push(request.url()));
    await other.page.reload();
    await other.page.getByText('The show is over. The chat is closed.').waitFor();
    await Bun.sleep(2_500);
    expect(requests.filter((url) => url.includes('winner-contact'))).toEqual([]);
    await other.context.close();
  }, 30_000);
});
