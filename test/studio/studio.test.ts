import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { StudioStream } from '../../protocol/studio.ts';
import { type OpenedPage, PASSWORD, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field, writeQuiz } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// What people do in the studio beside a show that goes well: `whole-show.test.ts` has that. Each test
// goes on where the one before stopped.

/** More than are read at once. */
const MANY = 55;

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;

beforeAll(async () => {
  fixture = await StudioFixture.start();
}, 30_000);
afterAll(() => fixture?.close());

describe('the studio', () => {
  test('[U-15] [U-16] an owner comes by a link, chooses a password, and is in', async () => {
    owner = await fixture.open(await fixture.linkFor('ann@example.org'));
    const { page } = owner;
    await field(page, 'New password').waitFor();
    await expectUsable(page, 'link');
    await field(page, 'Your name').fill('Ann');
    await field(page, 'New password').fill(PASSWORD);
    await page.getByRole('button', { name: /^(Keep it|Join)$/ }).click();
    await page.getByRole('heading', { name: 'Shows', level: 1 }).waitFor();
    expect(page.url()).not.toContain('#');
  }, 60_000);

  test('has a place for tokens, and one for who is signed in', async () => {
    const { page } = owner;
    for (const place of ['API tokens', 'You']) {
      await page.getByRole('link', { name: place, exact: true }).click();
      await page.getByRole('heading', { name: place, level: 1 }).waitFor();
      await expectUsable(page, place.toLowerCase().replace(' ', '-'));
    }
  }, 60_000);

  test('says what is wrong with a quiz, and nothing is lost by it', async () => {
    const { page } = owner;
    const show = { title: 'A show' };
    streamId = (await fixture.call<StudioStream>(owner, 'POST', '/streams', show)).id;
    await page.goto(`${fixture.url}/studio/streams/${streamId}/rundown`);
    await button(page, 'New quiz').click();
    await field(page, 'Choice 1').fill('Mars');
    await button(page, 'Add it').click();
    await page.getByText('Say which choice is right.').waitFor();
    expect(await field(page, 'Choice 1').inputValue()).toBe('Mars');
    await expectUsable(page, 'quiz-errors');
    await button(page, 'Cancel').click();
  }, 60_000);

  test('[D-7] says what is wrong with a file, and where; a quiz that is not wanted goes away', async () => {
    const { page } = owner;
    await writeQuiz(page, 'Which planet is the largest?');
    await button(page, 'Import').click();
    await field(page, 'Or paste its text').fill(
      'question,choice 1,choice 2,answer\nHow many moons?,One,Two,Three\n',
    );
    await page.getByRole('dialog').getByRole('button', { name: 'Import' }).click();
    await page
      .getByRole('alert')
      .getByText(/line 2/i)
      .first()
      .waitFor();
    await expectUsable(page, 'import-errors');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^What to do/ }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await button(page, 'Delete').click();
    await page.getByText('No quizzes yet').waitFor();
  }, 60_000);

  test('[B-8] [B-9] a page that is opened late has what was sent before, and how many saw it', async () => {
    const { page } = owner;
    await fixture.call(owner, 'POST', `/streams/${streamId}/start`);
    const send = (type: string) =>
      fixture.call(owner, 'POST', `/streams/${streamId}/events`, { type, data: null });
    await send('curtain');
    // A page of what was sent ends with a whole interval.
    await until('the curtain is told', async () =>
      (await fixture.sentEvents(owner, streamId)).some(({ type }) => type === 'curtain'),
    );
    for (let n = 0; n < MANY; n++) await send('lights');
    const audience = page.waitForResponse(/\/audience\?to=/);
    await page.goto(`${fixture.url}/studio/streams/${streamId}/on-air`);
    const list = page.getByLabel('Sent events');
    await list.getByText('lights').nth(49).waitFor();
    expect(await list.getByText('curtain').count()).toBe(0);
    await button(page, 'Earlier').click();
    await list.getByText('curtain').waitFor();
    await button(page, 'Earlier').waitFor({ state: 'detached' });
    expect(await list.getByText('lights').count()).toBe(MANY);
    expect((await audience).status()).toBe(200);
  }, 60_000);

  test('[U-6] [U-8] who signs out everywhere is out in every window', async () => {
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

  test('made no errors on the way', () => {
    expect(owner.errors).toEqual([]);
  });
});
