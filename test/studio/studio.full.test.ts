import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { addQuiz, button, expectUsable, field } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// Studio pages beyond a regular show, which `whole-show.full.test.ts` covers. Each test continues where
// the previous one stopped.

/** More than one page of the log, which has 50 events. */
const EVENT_COUNT = 55;

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.start();
}, 30_000);
afterAll(() => fixture?.close());

describe('the studio', () => {
  test('[U-15] [U-16] signs an owner in by a link with a new password', async () => {
    owner = await fixture.open(await fixture.linkFor('ann@example.org'));
    const { page } = owner;
    await field(page, 'New password').waitFor();
    await expectUsable(page, 'link');
    await field(page, 'Your name').fill('Ann');
    await field(page, 'New password').fill(PASSWORD);
    await page.getByRole('button', { name: /^(Save password|Join)$/ }).click();
    await page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    expect(page.url()).not.toContain('#');
  }, 60_000);

  test('has pages for API tokens and the profile', async () => {
    const { page } = owner;
    for (const section of ['API tokens', 'Profile']) {
      await page.getByRole('link', { name: section, exact: true }).click();
      await page.getByRole('heading', { name: section, level: 1 }).waitFor();
      await expectUsable(page, section.toLowerCase().replace(' ', '-'));
    }
  }, 60_000);

  test('shows the errors of a quiz and keeps its input', async () => {
    const { page } = owner;
    const show = { title: 'A show' };
    streamId = (await fixture.call<StudioStream>(owner, 'POST', '/streams', show)).id;
    await page.goto(`${fixture.url}/studio/streams/${streamId}/rundown`);
    await button(page, 'New quiz').click();
    await field(page, 'Choice 1').fill('Mars');
    await button(page, 'Add').click();
    await page.getByText('Select the correct answer.').waitFor();
    expect(await field(page, 'Choice 1').inputValue()).toBe('Mars');
    await expectUsable(page, 'quiz-errors');
    await button(page, 'Cancel').click();
  }, 60_000);

  test('[D-7] shows the errors of an import with their lines, and deletes a quiz', async () => {
    const { page } = owner;
    await addQuiz(page, 'Which planet is the largest?');
    await button(page, 'Import').click();
    await field(page, 'Or paste the content').fill(
      'question,choice 1,choice 2,answer\nHow many moons?,One,Two,Three\n',
    );
    await button(page, 'Preview').click();
    await page
      .getByRole('alert')
      .getByText(/line 2/i)
      .first()
      .waitFor();
    await expectUsable(page, 'import-errors');
    await page.keyboard.press('Escape');
    await button(page, 'Discard').click();
    await page.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete').click();
    await page.getByText('No quizzes yet').waitFor();
  }, 60_000);

  test('[B-8] [B-9] loads earlier events and the audience history on the on-air page', async () => {
    const { page } = owner;
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    const send = (type: string) =>
      fixture.call(owner, 'POST', `/streams/${streamId}/events`, { type, data: null });
    await send('curtain');
    // Pages of the log consist of whole intervals, so the curtain needs its own.
    await until('the curtain event is sent', async () =>
      (await fixture.sentEvents(owner, streamId)).some(({ type }) => type === 'curtain'),
    );
    for (let n = 0; n < EVENT_COUNT; n++) await send('lights');
    const audience = page.waitForResponse(/\/audience\?to=/);
    await page.goto(`${fixture.url}/studio/streams/${streamId}/on-air`);
    const list = page.getByLabel('Sent events');
    await list.getByText('lights').nth(49).waitFor();
    expect(await list.getByText('curtain').count()).toBe(0);
    await button(page, 'Load earlier').click();
    await list.getByText('curtain').waitFor();
    await button(page, 'Load earlier').waitFor({ state: 'detached' });
    expect(await list.getByText('lights').count()).toBe(EVENT_COUNT);
    expect((await audience).status()).toBe(200);
  }, 60_000);

  test('says so when the browser has no clipboard, as on http by address', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/streams/${streamId}`);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await button(page, 'Copy the viewer link').click();
    await page.getByText('Your browser blocked copying.').waitFor();
  }, 60_000);

  test('[U-18] shows a saved name without a reload', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/you`);
    await field(page, 'Your name').fill('Anna');
    const session = page.waitForResponse(/\/session$/);
    await button(page, 'Save').click();
    await session;
    await page.getByRole('link', { name: 'Shows' }).click();
    await page.getByRole('link', { name: 'Profile' }).click();
    await until('Anna', async () => (await field(page, 'Your name').inputValue()) === 'Anna');
  }, 60_000);

  test('[U-6] [U-8] signs out every window', async () => {
    const { page, context } = owner;
    const second = await context.newPage();
    await second.goto(`${fixture.url}/studio/`);
    await second.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    await page.goto(`${fixture.url}/studio/you`);
    await button(page, 'Everywhere').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectUsable(page, 'sign-in');
    await second.getByRole('heading', { name: 'Sign in' }).waitFor();
  }, 60_000);

  test('logged no errors', () => {
    expect(owner.errors).toEqual([]);
  });
});
