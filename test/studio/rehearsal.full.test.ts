import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { Page, Response } from 'playwright-core';
import type { Rehearsal } from '../../protocol/rehearsal.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable } from '../support/studio/studio-pages.ts';

// A rehearsal on the on-air page with simulated viewers. Each test continues where the previous one
// stopped.

const VIEWERS = 20;
const QUESTION = 'Which planet is the largest?';

let fixture: StudioFixture;
let owner: OpenedPage;
let showId: string;
let rehearsal: Rehearsal;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
  const { id } = await fixture.call<{ id: string }>(owner, 'POST', '/streams', {
    title: 'Friday quiz night',
  });
  showId = id;
  await fixture.call(owner, 'POST', `/streams/${showId}/quizzes`, {
    question: QUESTION,
    choices: ['Mars', 'Jupiter'],
    answer: 'Jupiter',
    duration: 4_000,
  });
}, 60_000);
afterAll(() => fixture?.close());

const current = () =>
  fixture.call<Rehearsal>(owner, 'GET', `/streams/${showId}/rehearsals/current`);

/** A figure of the simulated viewers, by name. */
async function figure(page: Page, name: string): Promise<number> {
  const text = await page.locator('dl > div', { hasText: name }).locator('dd').first().innerText();
  return Number(text.replaceAll(/\D/g, ''));
}

async function untilFigure(page: Page, name: string, value: number): Promise<void> {
  await page
    .locator('dl > div', { hasText: name })
    .getByText(value.toLocaleString(), { exact: true })
    .waitFor();
}

describe('a rehearsal from the studio', () => {
  test('[Y-1] keeps its typed settings while the host is in another tab', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/streams/${showId}/rehearsal`);
    const viewers = page.getByRole('textbox', { name: 'Viewers', exact: true });
    await viewers.fill('333');
    await page.keyboard.press('Tab');
    const isRehearsal = (response: Response) => response.url().endsWith('/rehearsals/current');
    const readAgain = page.waitForResponse(isRehearsal);
    // The event by which a page notices that its tab is visible again.
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
    await readAgain;
    expect(await viewers.inputValue()).toBe('333');
  }, 60_000);

  test('[Y-1] [Y-4] starts with simulated viewers, who join', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/streams/${showId}`);
    await page.getByRole('link', { name: 'Rehearsal' }).click();
    await page.getByRole('heading', { name: 'Rehearse the show' }).waitFor();
    await expectUsable(page, 'rehearsal-new');
    for (const [name, text] of [
      ['Viewers', String(VIEWERS)],
      ['Video delay, seconds', '0'],
      ['Requests lost', '0'],
      ['Late answers', '20'],
    ] as const) {
      await page.getByRole('textbox', { name, exact: true }).fill(text);
      await page.keyboard.press('Tab');
    }
    await button(page, 'Start the rehearsal').click({ clickCount: 2 });
    await page.getByText('Running', { exact: true }).waitFor();
    await untilFigure(page, 'Connected', VIEWERS);
    rehearsal = await current();
    expect(rehearsal.settings).toEqual({
      viewers: VIEWERS,
      latencyMs: 0,
      lossShare: 0,
      botShare: 0.05,
      lateShare: 0.2,
    });
  }, 60_000);

  test('[Y-11] shows the viewers’ page beside the figures', async () => {
    const { page } = owner;
    const frame = page.frameLocator('iframe[title="What viewers see"]');
    await frame.getByRole('button', { name: /heart/i }).first().waitFor();
    await expectUsable(page, 'rehearsal-running');
  }, 60_000);

  test('[Y-2] [Y-7] runs a quiz on air with correct figures', async () => {
    const { page } = owner;
    await page.getByRole('link', { name: 'Go on air' }).click();
    await page.getByText('Rehearsal: not visible to the public.').waitFor();
    await button(page, 'Start the show').click();
    const send = button(page, 'Send this quiz').and(page.locator(':enabled'));
    await send.waitFor();
    await expectUsable(page, 'rehearsal-on-air');
    await send.click();
    await page.getByText(/^Open, \d+ s$/).waitFor();
    await page.getByRole('link', { name: 'Viewers and figures' }).click();
    await page.getByText('Results shown').waitFor();
    const { crowd, streamId } = await current();
    const exported = `${fixture.url}/studio/v1/streams/${streamId}/exports/answers`;
    const rows = (await (await page.request.get(exported)).text()).split('\n').filter(Boolean);
    expect(crowd?.mismatch).toBeNull();
    expect(crowd?.answers.acknowledged).toBe(rows.length);
    expect(crowd?.quizzes[0]?.counted).toBe(rows.length);
    expect(rows.length).toBeGreaterThan(5);
    await untilFigure(page, 'Accepted answers', rows.length);
    expect(await figure(page, 'Connected')).toBeGreaterThan(VIEWERS / 2);
    await page.getByText(QUESTION).waitFor();
  }, 60_000);

  test('[Y-2] [Y-8] ends with its figures and was never public', async () => {
    const { page } = owner;
    await button(page, 'End the rehearsal').click();
    await page.getByText('Ended', { exact: true }).waitFor();
    await untilFigure(page, 'Connected', 0);
    expect(await page.getByText(/Mismatch/).allInnerTexts()).toEqual([]);
    await page.getByText(/checks passed/).waitFor();
    await untilFigure(page, 'Connected', 0);
    await expectUsable(page, 'rehearsal-over');
    await page.getByRole('link', { name: 'All shows' }).click();
    await page.getByRole('link', { name: 'Friday quiz night' }).waitFor();
    expect(await page.getByRole('link', { name: 'Friday quiz night' }).count()).toBe(1);
    const { producer } = await fixture.call<{ producer: string }>(
      owner,
      'GET',
      `/streams/${showId}`,
    );
    const list = await fetch(`${fixture.url}/api/v1/streams/?producer=${producer}`);
    expect(await list.json()).toMatchObject({ count: 1, results: [{ id: showId }] });
    const metrics = await (await fetch(`${fixture.url}/metrics`)).text();
    expect(metrics.includes(rehearsal.streamId)).toBe(false);
  }, 60_000);

  test('[Y-10] leaves nothing after it is deleted', async () => {
    const { page } = owner;
    await page.goto(`${fixture.url}/studio/streams/${showId}/rehearsal`);
    await button(page, 'Delete now').click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Rehearse the show' }).waitFor();
    const path = `${fixture.url}/studio/v1/streams/${rehearsal.streamId}`;
    for (let attempt = 0; attempt < 200; attempt++) {
      if ((await page.request.get(path)).status() === 404) break;
      await Bun.sleep(100);
    }
    expect((await page.request.get(path)).status()).toBe(404);
    expect((await page.request.get(path.replace(rehearsal.streamId, randomUUID()))).status()).toBe(
      404,
    );
    const { results } = await fixture.call<{ results: { question: string; state: string }[] }>(
      owner,
      'GET',
      `/streams/${showId}/quizzes`,
    );
    expect(results.map(({ question, state }) => [question, state])).toEqual([[QUESTION, 'draft']]);
    expect(owner.errors).toEqual([]);
  }, 60_000);
});
