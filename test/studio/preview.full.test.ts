import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Subprocess } from 'bun';
import type { Page } from 'playwright-core';
import type { Ingest } from '../../protocol/ingest.ts';
import type { StudioStream } from '../../protocol/studio.ts';
import { quit, rtmpOf, send } from '../support/media/live-fixture.ts';
import { type OpenedPage, StudioFixture } from '../support/studio/studio-fixture.ts';
import { button, expectUsable, field, saveScreenshot } from '../support/studio/studio-pages.ts';
import { until } from '../support/until.ts';

// A sender before the show: preview, going live, and a show whose source left.

let fixture: StudioFixture;
let owner: OpenedPage;
let streamId: string;
let sender: Subprocess;

beforeAll(async () => {
  fixture = await StudioFixture.start(['--rtmp-port', '0', '--media-preset', 'ultrafast']);
  owner = await fixture.openOwner();
  const show = { title: 'A show with a preview' };
  ({ id: streamId } = await fixture.call<StudioStream>(owner, 'POST', '/streams', show));
  await owner.page.goto(`${fixture.url}/studio/streams/${streamId}`);
  await owner.page.getByText('Viewers see nothing until you go live.').waitFor();
  const ingest = await fixture.call<Ingest>(owner, 'GET', `/streams/${streamId}/ingest`);
  sender = send(rtmpOf(ingest), { size: '320x240' });
}, 60_000);
afterAll(async () => {
  if (sender) await quit(sender, 'SIGKILL');
  await fixture?.close();
});

/** How much of the video the page has shown, s. */
const shownS = (page: Page) =>
  page
    .locator('video')
    .evaluate((video) => (video as unknown as { currentTime: number }).currentTime);
const statusOf = async () =>
  (await fixture.call<StudioStream>(owner, 'GET', `/streams/${streamId}`)).status;

test('[M-32] [M-34] set up and on air show the preview of a source with what is wrong with it', async () => {
  const { page } = owner;
  for (const name of ['Set up', 'On air']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByLabel('Preview of the video').waitFor();
    await until('the picture', async () => (await shownS(page)) > 0.2);
    await page.getByText(/^-\d+ dB$/).waitFor();
    await page.getByText('The video is 320 × 240, not 16:9.').waitFor();
    await button(page, 'Go live').waitFor();
    expect(await button(page, 'Start the show').count()).toBe(0);
    await expectUsable(page, `preview-${name.toLowerCase().replace(' ', '-')}`);
  }
  expect(await statusOf()).toBe('CREATED');
  expect((await fetch(`${fixture.url}/media/${streamId}/master.m3u8`)).status).toBe(404);
  expect(owner.errors).toEqual([]);
}, 90_000);

test('set up and on air offer a reload when their player did not load, and show the preview then', async () => {
  const { page } = owner;
  for (const name of ['Set up', 'On air']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.route('**/live-hls-player-*.js', (route) => route.abort(), { times: 1 });
    await page.reload();
    await page.getByText('The video player did not load.').waitFor();
    await expectUsable(page, `preview-not-loaded-${name.toLowerCase().replace(' ', '-')}`);
    await button(page, 'Reload the page').click();
    await until('the picture', async () => (await shownS(page)) > 0.2);
  }
  // The browser logs the request that the test aborted.
  owner.errors.length = 0;
}, 90_000);

test('the form of a show keeps its video with this service', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'Set up', exact: true }).click();
  await button(page, 'Edit').click();
  expect(await field(page, 'HLS playlist URL').inputValue()).toBe('');
  await field(page, 'Title').fill('A show with a preview tonight');
  const [request] = await Promise.all([
    page.waitForRequest((made) => made.method() === 'PATCH'),
    button(page, 'Save').click(),
  ]);
  expect(request.postDataJSON()).toEqual({ title: 'A show with a preview tonight' });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}, 60_000);

test('[D-17] set up says before air that the latency allowance is below the measured delay', async () => {
  const { page } = owner;
  await fixture.call(owner, 'PATCH', `/streams/${streamId}`, { latencyAllowance: 500 });
  await page.getByRole('link', { name: 'Set up', exact: true }).click();
  await page.getByLabel('Preview of the video').waitFor();
  const warning = page.getByText(/The latency allowance is 0.5\ss, so viewers lose \d/);
  await warning.waitFor({ timeout: 30_000 });
  await expectUsable(page, 'preview-latency');
  const set = page.getByRole('button', { name: /^Set to \d/ });
  const seconds = Number(/[\d.]+/.exec((await set.textContent()) ?? '')?.[0]);
  expect(seconds).toBeGreaterThan(0.5);
  await set.click();
  await warning.waitFor({ state: 'detached' });
  const stream = await fixture.call<StudioStream>(owner, 'GET', `/streams/${streamId}`);
  expect([stream.status, stream.latencyAllowance]).toEqual(['CREATED', seconds * 1_000]);
  expect(owner.errors).toEqual([]);
}, 60_000);

test('[M-32] a host goes live on a countdown, which can be canceled', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'Set up', exact: true }).click();
  await page.getByText('Count down from 5').click();
  await button(page, 'Go live').click();
  await page.getByText('Live in 5…').waitFor();
  await button(page, 'Cancel').click();
  const sent = page.waitForRequest((made) => made.url().endsWith('/start'));
  const clickedAtMs = Date.now();
  await button(page, 'Go live').click();
  await page.getByText('Live in 3…').waitFor();
  expect(await statusOf()).toBe('CREATED');
  await sent;
  // Polls render the page meanwhile.
  expect(Date.now() - clickedAtMs).toBeWithin(4_900, 6_000);
  await button(page, 'End the show').waitFor();
  expect(await statusOf()).toBe('STREAMING');
  expect(await button(page, 'Go live').count()).toBe(0);
  expect(owner.errors).toEqual([]);
}, 60_000);

test('[M-33] the studio counts down to the end of a show without its source, and a click keeps it open', async () => {
  const { page } = owner;
  await page.getByRole('link', { name: 'On air', exact: true }).click();
  await page.getByText('behind the camera').waitFor();
  await quit(sender, 'SIGKILL');
  const alert = page.getByRole('alert').filter({ hasText: 'the show ends automatically at' });
  await alert.waitFor();
  await page.getByRole('link', { name: 'All shows' }).click();
  await page.getByText(/^No video. Ends at /).waitFor();
  await saveScreenshot(page, 'studio-source-lost-shows');
  await page.getByRole('link', { name: 'A show with a preview' }).click();
  for (const name of ['Rundown', 'Set up', 'On air']) {
    await page.getByRole('link', { name, exact: true }).click();
    await alert.waitFor();
    await button(page, 'Keep the show open').waitFor();
    await saveScreenshot(page, `studio-source-lost-${name.toLowerCase().replace(' ', '-')}`);
  }
  await page.getByText(/^0:[0-2]\d$/).waitFor();
  await expectUsable(page, 'source-lost');
  await button(page, 'Keep the show open').click();
  await page.getByText('The show stays open until you end it.').first().waitFor();
  await button(page, 'Keep the show open').waitFor({ state: 'detached' });
  expect(await statusOf()).toBe('STREAMING');
  expect(owner.errors).toEqual([]);
}, 60_000);
