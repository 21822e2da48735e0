import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { WinnersRound } from '../../protocol/studio.ts';
import type { WinnerContact } from '../../protocol/winner-contacts.ts';
import { axeViolations } from '../support/player/axe.ts';
import { SCREENS, SceneFixture } from '../support/player/scene-fixture.ts';
import { ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// How a winner gives the host its contact details.

const notice = (page: Page) => page.getByRole('complementary', { name: 'Your win' });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'How can the host reach you?' });
const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
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
