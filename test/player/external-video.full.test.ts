import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCREENS } from '../support/player/scene-fixture.ts';
import { ShowFixture } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// The video of a live show is a recording on another server. It ends before the show.

/** Reads of the stream after the video's end, of which the last decides (`watchVideoEnd`). */
const END_CHECKS = 8;

let fixture: ShowFixture;
let folder: string;
let recording: Bun.Server<undefined>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fourbeat-recording-'));
  await encodeRecording();
  recording = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      new Response(Bun.file(join(folder, new URL(url).pathname)), {
        headers: { 'Access-Control-Allow-Origin': '*' },
      }),
  });
  fixture = await ShowFixture.start();
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await recording?.stop(true);
  rmSync(folder, { recursive: true });
});

async function encodeRecording(): Promise<void> {
  const picture = 'testsrc2=s=320x180:r=10:d=3,format=yuv420p';
  const command = [
    ...['ffmpeg', '-hide_banner', '-loglevel', 'error', '-nostdin', '-f', 'lavfi', '-i', picture],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-g',
      '10',
      '-b:v',
      '300k',
      '-f',
      'hls',
      '-hls_time',
      '1',
    ],
    ...['-hls_playlist_type', 'vod', '-master_pl_name', 'master.m3u8', 'v0.m3u8'],
  ];
  const { exited } = Bun.spawn(command, { cwd: folder, stderr: 'inherit' });
  expect(await exited).toBe(0);
}

test('[S-19] a show goes on for its viewers when a video of another server ends', async () => {
  const hls_url = `${recording.url}master.m3u8`;
  const streamId = await fixture.createStream({ hls_url });
  await fixture.studio('POST', `/streams/${streamId}/start`);
  await fixture.publishQuiz(streamId, { duration: 90_000 });
  const { page, errors } = await fixture.watch(streamId, SCREENS.phone);
  const quiz = page.getByRole('region', { name: 'Quiz' });
  const hasVideoEnded = () =>
    page.evaluate<boolean>("document.querySelector('video')?.ended === true");
  await until('the end of the video', hasVideoEnded, 20_000);

  let checks = 0;
  page.on('response', (response) => {
    if (new URL(response.url()).pathname === `/api/v1/streams/${streamId}/`) checks++;
  });
  await until('the checks of the stream', () => checks >= END_CHECKS, 30_000);
  // Joined again, the page would show the video from its start, and nothing of the quiz.
  await Bun.sleep(1_000);
  expect(await hasVideoEnded()).toBe(true);
  await quiz.getByRole('button', { name: 'Mars' }).tap();
  await quiz.getByText('Answer locked in!').waitFor();
  expect(errors).toEqual([]);
}, 90_000);
