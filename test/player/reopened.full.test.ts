import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { StudioStream } from '../../protocol/studio.ts';
import { addPictureClock, pictureMsOf } from '../support/player/picture-clock.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { FAST_POLLING, ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// A viewer on a phone, whose show ends by mistake and is reopened.

/** From the reopening on; viewers notice it after 1 to 2 s. */
const STALE_MS = 9_000;

let fixture: ShowFixture;
let streamId: string;
let viewer: WatchSession;

beforeAll(async () => {
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ recording: true, latencyAllowance: 2_500 });
  await fixture.play(streamId, '640x360');
  viewer = await fixture.watch(streamId, SCREENS.phone, async (context) => {
    await context.addInitScript(FAST_POLLING);
    await addPictureClock(context);
  });
}, 60_000);
afterAll(() => fixture?.close());

const badge = (text: string) => viewer.page.locator('.badge-status', { hasText: text });
const quiz = () => viewer.page.getByRole('region', { name: 'Quiz' });

async function expectMovingPicture(): Promise<number> {
  const first = await until('the video', () => pictureMsOf(viewer.page));
  await until('the next frame', async () => ((await pictureMsOf(viewer.page)) ?? 0) > first);
  return first;
}

test('[S-19] viewers of a reopened show get its video, chat and quizzes again', async () => {
  const { page } = viewer;
  await badge('Live').waitFor();
  await expectMovingPicture();
  await page.getByRole('textbox', { name: 'Write a message' }).fill('Hello');
  await page.getByRole('button', { name: 'Send', exact: true }).tap();
  await page.getByLabel('Your name').fill('Ada');
  await page.getByRole('button', { name: 'Continue' }).tap();
  await page.getByRole('list', { name: 'Chat' }).getByText('Ada Hello').waitFor();

  await fixture.studio('POST', `/streams/${streamId}/end`);
  await page.locator('.notice-title', { hasText: 'The show is over' }).waitFor();
  await fixture.stopVideo();
  const { started } = await fixture.studio<StudioStream>('GET', `/streams/${streamId}`);

  // Caches have the playlists of the end for some seconds.
  const master = `${fixture.url}/media/${streamId}/master.m3u8`;
  const body = await (await fetch(master)).text();
  const freshFromMs = Date.now() + STALE_MS;
  await page.route(master, (route) =>
    Date.now() < freshFromMs
      ? route.fulfill({ body, contentType: 'application/vnd.apple.mpegurl' })
      : route.continue(),
  );

  const reopenedMs = Date.now();
  const reopened = await fixture.studio<StudioStream>('POST', `/streams/${streamId}/reopen`);
  expect(reopened).toMatchObject({ status: 'STREAMING', started });
  await fixture.play(streamId, '640x360');
  await badge('Live').waitFor();
  await page.locator('.notice-title', { hasText: 'Waiting for the video…' }).waitFor();
  await until('the new video', async () => ((await pictureMsOf(page)) ?? 0) > reopenedMs);
  await expectMovingPicture();
  await page.getByRole('list', { name: 'Chat' }).getByText('Ada Hello').waitFor();

  await fixture.publishQuiz(streamId, { duration: 5_000 });
  await quiz().getByRole('button', { name: 'Jupiter' }).tap();
  await quiz().getByText('Answer locked in!').waitFor();
  await quiz().getByText('Correct!').waitFor();
  expect(viewer.errors).toEqual([]);
}, 90_000);
