import { afterAll, beforeAll, expect, test } from 'bun:test';
import { END_CHECK_MS, END_CHECKS_MAX } from '../../player/show/show-end.ts';
import { temporaryFolder } from '../support/harness/program.ts';
import { encodeVideo } from '../support/player/fixture-server.ts';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { ShowFixture } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// The video of a live show is a recording on another server. It ends before the show.

/** When the page has decided, in ms after the end of the video: it waits 1.5 times as long at most. */
const DECIDED_MS = END_CHECKS_MAX * END_CHECK_MS * 1.5 + 1_000;

/** Counts how often a video has ended. */
const COUNT_ENDS = "globalThis.ends = 0; addEventListener('ended', () => ends++, true);";

let fixture: ShowFixture;
let recording: Bun.Server<undefined>;
const folder = temporaryFolder();

beforeAll(async () => {
  await encodeVideo(folder.path(''), 3);
  recording = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch: ({ url }) =>
      new Response(Bun.file(folder.path(new URL(url).pathname)), {
        headers: { 'Access-Control-Allow-Origin': '*' },
      }),
  });
  fixture = await ShowFixture.start();
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await recording?.stop(true);
  folder.remove();
});

test('a show goes on for its viewers when a video of another server ends', async () => {
  const hls_url = `${recording.url}master.m3u8`;
  const streamId = await fixture.createStream({ hls_url });
  await fixture.studio('POST', `/streams/${streamId}/start`);
  await fixture.publishQuiz(streamId, { duration: 90_000 });
  const { page, errors } = await fixture.watch(streamId, SCREENS.phone, async (context) => {
    await context.addInitScript(COUNT_ENDS);
  });
  const quiz = page.getByRole('region', { name: 'Quiz' });
  const ends = () => page.evaluate<number>('ends');
  await until('the end of the video', async () => (await ends()) > 0, 20_000);
  // Joined again, the page would show the video from its start, and nothing of the quiz.
  await Bun.sleep(DECIDED_MS);
  expect(await ends()).toBe(1);
  expect(await page.evaluate<boolean>("document.querySelector('video').ended")).toBe(true);
  await quiz.getByRole('button', { name: 'Mars' }).tap();
  await quiz.getByText('Answer locked in!').waitFor();
  expect(errors).toEqual([]);
}, 90_000);
