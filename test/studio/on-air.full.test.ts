import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';

// What a host needs on the on-air page without leaving it. Each test continues where the previous
// one stopped.

let fixture: StudioFixture;
let owner: OpenedPage;
let show: StudioStream;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  show = await fixture.call<StudioStream>(owner, 'POST', '/streams', { title: 'Tonight' });
}, 60_000);
afterAll(() => fixture?.close());

const openOnAir = (streamId: string) =>
  owner.page.goto(`${fixture.url}/studio/streams/${streamId}/on-air`);

const SIZES = [
  { width: 1_440, height: 900 },
  { width: 1_024, height: 768 },
  { width: 390, height: 844 },
] as const;

/** Checks that a panel cuts nothing off, at each size. */
async function expectAllVisible(panel: Locator): Promise<void> {
  const { page } = owner;
  const before = page.viewportSize();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    const hiddenPx = await panel.evaluate(
      (element: { scrollHeight: number; clientHeight: number }) =>
        element.scrollHeight - element.clientHeight,
    );
    expect([size.width, hiddenPx]).toEqual([size.width, 0]);
  }
  if (before) await page.setViewportSize(before);
}

describe('the on-air page', () => {
  test('of a rehearsal never says live, and says that it is a rehearsal', async () => {
    const { page } = owner;
    const body = { viewers: 1, latencyMs: 0 };
    const path = `/streams/${show.id}/rehearsals`;
    const { streamId } = await fixture.call<{ streamId: string }>(owner, 'POST', path, body);
    await openOnAir(streamId);
    await button(page, 'Start the show').click();
    await button(page, 'End the rehearsal').waitFor();
    const header = page.locator('#content header').first();
    await header.getByText('Rehearsal', { exact: true }).waitFor();
    expect(await header.getByText('Live', { exact: true }).count()).toBe(0);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    const banner = page.getByText('Rehearsal: not visible to the public.');
    expect((await banner.boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.evaluate('scrollTo(0, 0)');
    await expectUsable(page, 'on-air-rehearsal');
    await button(page, 'End the rehearsal').click();
    await button(page, 'End rehearsal').click();
    await page.getByText('The rehearsal has ended').waitFor();
  }, 60_000);

  test('starts a show without video only after a confirmation', async () => {
    const { page } = owner;
    const statusOf = async () =>
      (await fixture.call<StudioStream>(owner, 'GET', `/streams/${show.id}`)).status;
    for (const open of [
      () => openOnAir(show.id),
      () => page.getByRole('link', { name: 'Set up', exact: true }).click(),
    ]) {
      await open();
      await button(page, 'Start the show').click();
      await page.getByRole('alertdialog', { name: 'Start without video?' }).waitFor();
      await expectUsable(page, 'start-without-video');
      await button(page, 'Cancel').click();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    }
    expect(await statusOf()).toBe('CREATED');
    await openOnAir(show.id);
    await button(page, 'Start the show').click();
    await button(page, 'Start without video').click();
    await button(page, 'End the show').waitFor();
    expect(await statusOf()).toBe('STREAMING');
  }, 60_000);

  test('adds a quiz when there is no draft, and makes it the next one', async () => {
    const { page } = owner;
    await page.getByText('No more quizzes').waitFor();
    // The keys do the next step of the show, of which there is none.
    const next = page.getByRole('region', { name: 'Next', exact: true });
    expect(await next.getByText('Ctrl').count()).toBe(0);
    await expectUsable(page, 'on-air-no-quizzes');
    await button(page, 'Add quiz').click();
    await field(page, 'Question').fill('Which planet is the largest?');
    await field(page, 'Choice 1').fill('Mars');
    await field(page, 'Choice 2').fill('Jupiter');
    await page.getByRole('radio', { name: 'Choice 2 is correct' }).check({ force: true });
    await button(page, 'Add').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button(page, 'Send this quiz').waitFor();
    await next.getByText('Ctrl').waitFor();
    await next.getByRole('article').getByText('Which planet is the largest?').waitFor();
  }, 60_000);

  test('lists what was sent, with the numbers of intervals in its diagnostics only', async () => {
    const { page } = owner;
    await fixture.call(owner, 'POST', `/streams/${show.id}/events`, { type: 'lights', data: null });
    const sent = page.getByRole('list', { name: 'Sent events' });
    await sent.getByText('lights').waitFor();
    expect(await sent.innerText()).not.toMatch(/\d{8,}/);
    await page.getByText('Diagnostics').click();
    await page.getByText('Show interval numbers').click();
    await sent
      .getByText(/^Interval \d{8,}$/)
      .first()
      .waitFor();
  }, 60_000);

  test('ends the show after confirmation', async () => {
    const { page } = owner;
    await button(page, 'End the show').click();
    await page.getByRole('alertdialog', { name: 'End the show?' }).waitFor();
    await button(page, 'Cancel').click();
    await button(page, 'End the show').click();
    await button(page, 'End show').click();
    await page.getByText('The show has ended', { exact: true }).waitFor();
    expect(await button(page, 'End the show').count()).toBe(0);
  }, 60_000);

  test('[W-3] shows the results of a quiz that a program published before the latest one', async () => {
    const { page } = owner;
    const call = <T>(path: string, body?: object) => fixture.call<T>(owner, 'POST', path, body);
    const { id } = await call<StudioStream>('/streams', { title: 'Two', latencyAllowance: 0 });
    await call(`/streams/${id}/start`);
    const quizzes: StudioQuiz[] = [];
    for (const reveal of ['manual', 'auto'])
      quizzes.push(await call<StudioQuiz>(`/streams/${id}/quizzes`, { ...QUIZ, reveal }));
    await openOnAir(id);
    const announce = button(page, 'Announce the winners');
    await announce.waitFor();
    for (const { id: quizId } of quizzes) await call(`/quizzes/${quizId}/publish`);
    await page.getByText('Results shown').waitFor();
    // The page learns from the refusal that the first quiz has been published.
    await announce.click();
    await page.getByText('Show the quiz results first.').waitFor();
    await button(page, 'Show the results').click();
    await page.getByText('Correct in every quiz since the last round.').waitFor();
    await announce.click();
    await page
      .getByText(/winners? last round|0 winners/i)
      .first()
      .waitFor();
  }, 60_000);

  test('[P-26] shows the results of the last quiz after the end of the show', async () => {
    const { page } = owner;
    const call = <T>(path: string, body?: object) => fixture.call<T>(owner, 'POST', path, body);
    const { id } = await call<StudioStream>('/streams', { title: 'Late', latencyAllowance: 0 });
    await call(`/streams/${id}/start`);
    const quiz = { ...QUIZ, reveal: 'manual' };
    const { id: quizId } = await call<StudioQuiz>(`/streams/${id}/quizzes`, quiz);
    await call(`/quizzes/${quizId}/publish`);
    await openOnAir(id);
    await page.getByText('Closed, results hidden').waitFor();
    await call(`/streams/${id}/end`);
    const ended = page.getByRole('region', { name: 'The show has ended' });
    await button(ended, 'Show the results').waitFor();
    await button(ended, 'Reopen the show').waitFor();
    await expectUsable(page, 'on-air-ended-hidden-results');
    await expectAllVisible(ended);
    await button(ended, 'Show the results').click();
    await page.getByText('Results shown').waitFor();
    await button(ended, 'Show the results').waitFor({ state: 'detached' });
    await expectUsable(page, 'on-air-ended');
  }, 60_000);
});

test('the page logged no errors', () => {
  expect(owner.errors).toEqual([]);
});
