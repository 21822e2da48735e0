import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import type { Webhook } from '../../protocol/webhooks.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// What a host typed is not lost, and the page that a host needs opens.

let fixture: StudioFixture;
let owner: OpenedPage;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
}, 60_000);
afterAll(() => fixture?.close());

const NOTE = 'What winners read above the form';

const dialog = () => owner.page.getByRole('dialog');
const question = () => owner.page.getByRole('alertdialog', { name: 'Discard your changes?' });

const createShow = (title: string) =>
  fixture.call<StudioStream>(owner, 'POST', '/streams', { title });

async function startShow(title: string): Promise<StudioStream> {
  const show = await createShow(title);
  return fixture.call<StudioStream>(owner, 'POST', `/streams/${show.id}/start`);
}

describe('a dialog with a form', () => {
  test('closes at once by Escape and by a click beside it while nothing was changed', async () => {
    const { page } = owner;
    for (const close of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 5)]) {
      await button(page, 'New show').first().click();
      await dialog().waitFor();
      await close();
      await dialog().waitFor({ state: 'detached' });
    }
  }, 60_000);

  test('asks before Escape or a click beside it discards changes', async () => {
    const { page } = owner;
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('A long title');
    await page.keyboard.press('Escape');
    await question().waitFor();
    await expectUsable(page, 'discard');
    // Escape and Enter both keep what was typed.
    await page.keyboard.press('Escape');
    await question().waitFor({ state: 'detached' });
    expect(await field(page, 'Title').inputValue()).toBe('A long title');
    await page.mouse.click(5, 5);
    await question().waitFor();
    await page.keyboard.press('Enter');
    await question().waitFor({ state: 'detached' });
    expect(await field(page, 'Title').inputValue()).toBe('A long title');
    await page.keyboard.type('r');
    expect(await field(page, 'Title').inputValue()).toBe('A long titler');
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();
    await dialog().waitFor({ state: 'detached' });
    await button(page, 'New show').first().click();
    expect(await field(page, 'Title').inputValue()).toBe('');
    expect(await question().count()).toBe(0);
  }, 60_000);

  test('closes at once after changes were taken back, and by Cancel', async () => {
    const { page } = owner;
    await field(page, 'Title').fill('Another');
    await field(page, 'Title').fill('');
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('Another');
    await button(page, 'Cancel').click();
    await dialog().waitFor({ state: 'detached' });
  }, 60_000);
});

describe('a dialog with changes', () => {
  const pathNow = () => new URL(owner.page.url()).pathname;

  test('asks before the browser goes back, and goes there after Discard', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/team`);
    await page.getByRole('link', { name: 'Shows', exact: true }).click();
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('A long title');
    await page.evaluate('history.back()');
    await question().waitFor();
    await expectUsable(page, 'discard-back');
    await button(page, 'Keep editing').click();
    await question().waitFor({ state: 'detached' });
    expect(await field(page, 'Title').inputValue()).toBe('A long title');
    expect(pathNow()).toBe('/studio/');
    await page.evaluate('history.back()');
    await button(page, 'Discard').click();
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    expect(await dialog().count()).toBe(0);
    // Without changes the browser goes at once.
    await page.evaluate('history.forward()');
    await button(page, 'New show').first().click();
    await dialog().waitFor();
    await page.evaluate('history.back()');
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
  }, 60_000);

  test('makes the browser ask before a reload', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/`);
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('A long title');
    const asked = page.waitForEvent('dialog');
    void page.evaluate('location.reload()').catch(() => {});
    expect((await asked).type()).toBe('beforeunload');
    await (await asked).dismiss();
    expect(await field(page, 'Title').inputValue()).toBe('A long title');
    await field(page, 'Title').fill('');
    const leave = "dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    await until('the browser no longer asks', () => page.evaluate<boolean>(leave));
    await button(page, 'Cancel').click();
  }, 60_000);
});

describe('a save that succeeds after its dialog was closed', () => {
  /** Fails writes to a path as a service does that is unavailable. @returns ends that */
  async function failWrites(path: RegExp): Promise<() => void> {
    let isFailing = true;
    await owner.page.route(path, (route) =>
      isFailing && route.request().method() !== 'GET'
        ? route.fulfill({ status: 503 })
        : route.continue(),
    );
    return () => {
      isFailing = false;
    };
  }

  /** Types into the second dialog while the save of the first one succeeds. */
  async function expectKept(name: string, restore: () => void, path: RegExp): Promise<void> {
    const { page } = owner;
    await field(dialog(), name).fill('https://example.org/kept');
    const saved = page.waitForResponse(
      (response) =>
        path.test(response.url()) && response.request().method() !== 'GET' && response.ok(),
    );
    restore();
    await saved;
    // Closing it would take the time of a refetch.
    await page.waitForTimeout(500);
    expect(await field(dialog(), name).inputValue()).toBe('https://example.org/kept');
    await button(dialog(), 'Cancel').click();
    await page.unroute(path);
  }

  test('leaves the dialog of the next quiz open', async () => {
    const { page } = owner;
    const show = await createShow('Quizzes');
    await page.goto(`${fixture.url}/studio/streams/${show.id}/rundown`);
    const restore = await failWrites(/\/quizzes$/);
    await button(page, 'New quiz').click();
    await field(page, 'Question').fill('Which planet is red?');
    await field(page, 'Choice 1').fill('Mars');
    await field(page, 'Choice 2').fill('Jupiter');
    await page.getByRole('radio', { name: 'Choice 1 is correct' }).check({ force: true });
    await button(page, 'Add').click();
    await button(page, 'Cancel').click();
    await button(page, 'New quiz').click();
    await expectKept('Question', restore, /\/quizzes$/);
    await page.getByText('Which planet is red?').waitFor();
  }, 60_000);

  test('takes no changes of a draft while it is being saved', async () => {
    const { page } = owner;
    const show = await createShow('Drafts');
    const { id } = await fixture.call<StudioQuiz>(
      owner,
      'POST',
      `/streams/${show.id}/quizzes`,
      QUIZ,
    );
    await page.goto(`${fixture.url}/studio/streams/${show.id}/rundown`);
    const path = new RegExp(`/quizzes/${id}$`);
    const restore = await failWrites(path);
    await page
      .getByRole('button', { name: /actions/i })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await field(dialog(), 'Question').fill('Which planet is next?');
    await button(dialog(), 'Save').click();
    await field(dialog(), 'Question').press('x');
    expect(await field(dialog(), 'Question').inputValue()).toBe('Which planet is next?');
    restore();
    await dialog().waitFor({ state: 'detached' });
    await page.getByText('Which planet is next?').waitFor();
    await page.unroute(path);
  }, 60_000);

  test('names the token that was revoked, and leaves the question of the next one open', async () => {
    const { page } = owner;
    for (const name of ['Alpha', 'Beta'])
      await fixture.call(owner, 'POST', '/api-tokens', { name });
    await page.goto(`${fixture.url}/studio/tokens`);
    const path = /api-tokens\/[\w-]+$/;
    const restore = await failWrites(path);
    await button(page, 'Revoke Alpha').click();
    await button(page.getByRole('alertdialog'), 'Revoke').click();
    await button(page.getByRole('alertdialog'), 'Cancel').click();
    await button(page, 'Revoke Beta').click();
    restore();
    await page.getByText(/Alpha.* was revoked/).waitFor();
    await page.getByRole('alertdialog', { name: /Revoke .*Beta/ }).waitFor();
    await button(page.getByRole('alertdialog'), 'Cancel').click();
    await button(page, 'Revoke Beta').waitFor();
    await page.unroute(path);
  }, 60_000);

  test('leaves the dialog of the next product open', async () => {
    const { page } = owner;
    const show = await createShow('Products');
    await page.goto(`${fixture.url}/studio/streams/${show.id}`);
    const restore = await failWrites(/\/products$/);
    await button(page, 'Add product').click();
    await field(page, 'Name').fill('Mug');
    await page.getByRole('textbox', { name: 'Price' }).fill('12.50');
    await field(page, 'Link to the shop').fill('https://shop.example.org/mug');
    await button(dialog(), 'Add product').click();
    await button(page, 'Cancel').click();
    await button(page, 'Add product').click();
    await expectKept('Name', restore, /\/products$/);
    await page.getByText('Mug').waitFor();
  }, 60_000);

  test('leaves the form of a webhook open, after a pause', async () => {
    const { page } = owner;
    const data = { url: 'https://hooks.example.org/', events: ['winners'] };
    const { id } = await fixture.call<Webhook>(owner, 'POST', '/webhooks', data);
    await page.goto(`${fixture.url}/studio/webhooks/${id}`);
    const path = new RegExp(`/webhooks/${id}$`);
    const restore = await failWrites(path);
    await button(page, 'Pause').click();
    await button(page.getByRole('alertdialog'), 'Pause').click();
    await button(page, 'Cancel').click();
    await button(page, 'More actions').click();
    await page.getByRole('menuitem', { name: 'Edit' }).click();
    await expectKept('URL', restore, path);
    await button(page, 'Resume').waitFor();
  }, 60_000);

  test('stays on the page on which the host creates the next show', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/`);
    const restore = await failWrites(/\/streams$/);
    await button(page, 'New show').first().click();
    await field(page, 'Title').fill('Sunday');
    await button(dialog(), 'Create').click();
    await button(page, 'Cancel').click();
    await button(page, 'New show').first().click();
    await expectKept('Title', restore, /\/streams$/);
    await page.getByRole('link', { name: /Sunday/ }).waitFor();
  }, 60_000);
});

describe('a dialog of the on-air page', () => {
  test('keeps a quiz that is typed while a colleague adds one, and while the show ends', async () => {
    const { page } = owner;
    const show = await startShow('Quiz night');
    await page.goto(`${fixture.url}/studio/streams/${show.id}/on-air`);
    await button(page, 'Add quiz').click();
    await field(page, 'Question').fill('Which planet is red?');
    await fixture.call(owner, 'POST', `/streams/${show.id}/quizzes`, QUIZ);
    await page.getByText('Send this quiz').waitFor();
    expect(await field(page, 'Question').inputValue()).toBe('Which planet is red?');
    await fixture.call(owner, 'POST', `/streams/${show.id}/end`);
    await page.getByText('The show has ended', { exact: true }).waitFor();
    expect(await field(page, 'Question').inputValue()).toBe('Which planet is red?');
    await expectUsable(page, 'add-quiz-after-end');
  }, 60_000);

  test('[W-14] keeps the note for winners while a colleague sends the next quiz', async () => {
    const { page } = owner;
    const show = await startShow('Winners');
    const viewer = fixture.joinViewer(show.id, 'Ada');
    await until('the viewer is live', () => viewer.state === 'live');
    // A game without quizzes: everyone wins.
    await fixture.call(owner, 'POST', `/streams/${show.id}/request-winners`);
    await page.goto(`${fixture.url}/studio/streams/${show.id}/on-air`);
    await button(page, 'Ask for contact details').click();
    await field(dialog(), NOTE).fill('Where should the prize go?');
    await field(dialog(), NOTE).press('Escape');
    await question().waitFor();
    await page.keyboard.press('Escape');
    await question().waitFor({ state: 'detached' });
    const path = `/streams/${show.id}/quizzes`;
    const { id } = await fixture.call<StudioQuiz>(owner, 'POST', path, QUIZ);
    await fixture.call(owner, 'POST', `/quizzes/${id}/publish`);
    await page.getByText(/^Open, \d s$/).waitFor();
    expect(await field(dialog(), NOTE).inputValue()).toBe('Where should the prize go?');
    await button(dialog(), 'Ask the winners').click();
    await dialog().getByText('Where should the prize go?').waitFor();
    await button(dialog(), 'Done').click();
    await fixture.call(owner, 'POST', `/streams/${show.id}/end`);
  }, 60_000);
});

describe('a live show', () => {
  test('opens on air from the list of shows and after sign-in', async () => {
    const { page } = owner;
    const { id } = await startShow('Tonight');
    await page.goto(`${fixture.url}/studio/`);
    await page.getByRole('link', { name: /Tonight/ }).click();
    await page.waitForURL(`**/streams/${id}/on-air`);
    await page.getByRole('link', { name: 'Shows', exact: true }).click();
    await page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    const host = await fixture.open('/studio/');
    await field(host.page, 'Email').fill('ann@example.org');
    await field(host.page, 'Password').fill(PASSWORD);
    await button(host.page, 'Sign in').click();
    await host.page.waitForURL(`**/streams/${id}/on-air`);
    // The list of shows stays within reach.
    await host.page.getByRole('link', { name: 'All shows' }).click();
    await host.page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    await host.page.reload();
    await host.page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    expect(new URL(host.page.url()).pathname).toBe('/studio/');
    await host.context.close();
  }, 60_000);
});

test('the page logged no errors', () => {
  expect(owner.errors).toEqual([]);
});
