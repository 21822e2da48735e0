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

test('[D-17] says how late the picture is and what that costs viewers, and gives them their time back', async () => {
  const { page } = owner;
  await button(page, 'New show').first().click();
  await field(page, 'Title').fill('A show with a picture');
  await page.getByRole('textbox', { name: 'Latency allowance, seconds' }).fill('0');
  await button(page, 'Make it').click();
  await page.getByRole('heading', { name: 'A show with a picture', level: 1 }).waitFor();
  const streamId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await button(page, 'Start the show').click();
  await page.getByRole('link', { name: 'Rundown' }).click();
  await page.getByText('No quizzes yet').waitFor();
  expect(await page.getByText('Time for the picture').count()).toBe(0);
  video = startVideo(fixture.url, fixture.data, streamId);
  await page.getByText('Time for the picture').waitFor();
  const allow = page.getByRole('button', { name: /^Allow \d/ });
  await allow.waitFor({ timeout: 30_000 });
  await expectUsable(page, 'rundown-latency');
  const seconds = Number(/[\d.]+/.exec((await allow.textContent()) ?? '')?.[0]);
  expect(seconds).toBeGreaterThan(0.5);
  await allow.click();
  await page.getByText(/gives them all of their time/).waitFor();
  await page.getByRole('link', { name: 'Set up' }).click();
  await page.getByText(`${seconds} s`, { exact: true }).waitFor();
  expect(owner.errors).toEqual([]);
}, 90_000);

test('[B-1] [M-7] says when the show ends once its picture is gone, also to who comes then', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'On air' }).click();
  await page.getByText('behind the camera').waitFor();
  await video?.stop();
  const told = page.getByRole('alert').filter({ hasText: /the show ends by itself at \d/ });
  await told.waitFor();
  const words = await told.textContent();
  await page.reload();
  await told.waitFor();
  expect(await told.textContent()).toBe(words);
  await expectUsable(page, 'picture-gone');
  expect(owner.errors).toEqual([]);
}, 60_000);
