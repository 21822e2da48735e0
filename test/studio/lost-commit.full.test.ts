import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { StudioQuiz, StudioStream } from '../../protocol/studio.ts';
import { QUIZ } from '../support/harness/harness.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button } from '../support/studio/studio-pages.ts';

// An open on-air page while the database loses what its host has just done.

let fixture: StudioFixture;
let owner: OpenedPage;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const show = { title: 'A show with a restored database' };
  const { id } = await fixture.call<StudioStream>(owner, 'POST', '/streams', show);
  const quiz = { ...QUIZ, question: 'First?', duration: 2_000, reveal: 'auto' };
  await fixture.call<StudioQuiz>(owner, 'POST', `/streams/${id}/quizzes`, quiz);
  await fixture.call(owner, 'POST', `/streams/${id}/start`);
  await owner.page.goto(`${fixture.url}/studio/streams/${id}/on-air`);
}, 60_000);
afterAll(() => fixture?.close());

const press = (page: Page, name: string) =>
  button(page, name).and(page.locator(':enabled')).click();

/** Takes an action, then restores the database as it was before, in the middle of the show. */
async function actAndLose(act: () => Promise<unknown>): Promise<void> {
  await fixture.kill();
  const before = `${fixture.data}-before`;
  cpSync(fixture.data, before, { recursive: true });
  await fixture.restart();
  await act();
  await fixture.kill();
  rmSync(fixture.data, { recursive: true });
  cpSync(before, fixture.data, { recursive: true });
  rmSync(before, { recursive: true });
  await fixture.restart();
}

test('[B-7] on air offers an action again when the database has lost it', async () => {
  const { page } = owner;
  await actAndLose(async () => {
    await press(page, 'Send this quiz');
    await page.getByText('Results shown').waitFor();
  });
  await press(page, 'Send this quiz');
  await page.getByText('Results shown').waitFor();
  const lastRound = page.getByText(/^The last round had 0 winners/);
  await actAndLose(async () => {
    await press(page, 'Announce the winners');
    await lastRound.waitFor();
  });
  await lastRound.waitFor({ state: 'detached' });
  await press(page, 'Announce the winners');
  await lastRound.waitFor();
  expect(owner.errors).toEqual([]);
}, 90_000);
