import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type DemoVideo, startVideo } from '../../demo/children.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field } from '../support/studio/studio-pages.ts';

let fixture: StudioFixture;
let owner: OpenedPage;
let video: DemoVideo | null = null;

beforeAll(async () => {
  fixture = await StudioFixture.start();
  owner = await fixture.openOwner();
}, 30_000);
afterAll(async () => {
  await video?.stop();
  await fixture?.close();
});

test('[D-17] a new show has an allowance for the usual delay of its video', async () => {
  const { page } = owner;
  await button(page, 'New show').first().click();
  const allowance = page.getByRole('textbox', { name: 'Latency allowance, seconds' });
  expect(await allowance.inputValue()).toBe('5');
  await button(page, 'Cancel').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}, 30_000);

test('[D-17] the rundown shows the video delay and sets the latency allowance that it needs', async () => {
  const { page } = owner;
  await button(page, 'New show').first().click();
  await field(page, 'Title').fill('A show with a picture');
  await page.getByRole('textbox', { name: 'Latency allowance, seconds' }).fill('0');
  await button(page, 'Create').click();
  await page.getByRole('heading', { name: 'A show with a picture', level: 1 }).waitFor();
  const streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await button(page, 'Start the show').click();
  await button(page, 'Start without video').click();
  await page.getByRole('link', { name: 'Rundown' }).click();
  await page.getByText('No quizzes yet').waitFor();
  expect(await page.getByRole('heading', { name: 'Video delay' }).count()).toBe(0);
  video = startVideo(fixture.url, fixture.data, streamId);
  await page.getByRole('heading', { name: 'Video delay' }).waitFor();
  const allow = page.getByRole('button', { name: /^Set to \d/ });
  await allow.waitFor({ timeout: 30_000 });
  await expectUsable(page, 'rundown-latency');
  const seconds = Number(/[\d.]+/.exec((await allow.textContent()) ?? '')?.[0]);
  expect(seconds).toBeGreaterThan(0.5);
  await allow.click();
  await page.getByText(/gives viewers their full time/).waitFor();
  await page.getByRole('link', { name: 'Set up' }).click();
  await page.getByText(`${seconds} s`, { exact: true }).waitFor();
  expect(owner.errors).toEqual([]);
}, 90_000);

test('[B-1] [M-7] the on-air page shows when the show ends without its video source, also after a reload', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'On air' }).click();
  await page.getByText('behind the camera').waitFor();
  await video?.stop();
  const warning = page.getByRole('alert').filter({ hasText: /the show ends automatically at \d/ });
  await warning.waitFor();
  const text = await warning.textContent();
  await page.reload();
  await warning.waitFor();
  expect(await warning.textContent()).toBe(text);
  await expectUsable(page, 'picture-gone');
  expect(owner.errors).toEqual([]);
}, 60_000);
