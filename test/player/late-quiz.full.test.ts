import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { intervalAt } from '../../protocol/interval.ts';
import {
  addPictureClock,
  overlaysOf,
  pictureMsOf,
  seekTo,
} from '../support/player/picture-clock.ts';
import { ShowFixture } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// Viewers open the page while a quiz is open. The feed that they read begins after the quiz event.

const QUIZ_MS = 45_000;
// How far before the quiz the first viewer starts the video.
const BEHIND_MS = 5_000;

let fixture: ShowFixture;
let streamId: string;

beforeAll(async () => {
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ latencyAllowance: 10_000 });
  await fixture.play(streamId);
  // Seeking back needs video from before the quiz.
  await until(
    'video to seek back to',
    async () => (await videoSeconds(streamId)) > 2 + BEHIND_MS / 1_000,
    30_000,
  );
}, 60_000);
afterAll(() => fixture?.close());

/** The length of the video in the playlist, seconds. */
async function videoSeconds(streamId: string): Promise<number> {
  const playlist = await (await fetch(`${fixture.url}/media/${streamId}/v0.m3u8`)).text();
  return [...playlist.matchAll(/^#EXTINF:([\d.]+)/gm)].reduce((sum, [, s]) => sum + Number(s), 0);
}

const quizOf = (page: Page) => page.getByRole('region', { name: 'Quiz' });

async function answer(page: Page, choice: string): Promise<void> {
  await quizOf(page).getByRole('button', { name: choice }).click();
  await quizOf(page).getByText('Answer locked in!').waitFor();
}

test('[S-17] [Q-7] a viewer who opens the page during a quiz can answer it, and the answer counts', async () => {
  const viewport = { width: 640, height: 480 };
  const { id } = await fixture.publishQuiz(streamId, { duration: QUIZ_MS });
  const openedMs = Date.now();
  // The video of this viewer starts before the quiz.
  const behind = await fixture.watch(streamId, { viewport }, addPictureClock);
  const isPlaying = async () => (await pictureMsOf(behind.page)) !== null;
  await until('the video', isPlaying, 15_000);
  await seekTo(behind.page, Date.now() - openedMs + BEHIND_MS);
  await quizOf(behind.page).waitFor({ state: 'detached' });
  await quizOf(behind.page).getByRole('heading', { name: 'Which planet' }).waitFor();
  const quizEvent = (await fixture.feedEvents(streamId)).find(({ type }) => type === 'quiz');
  const overlay = (await overlaysOf(behind.page)).at(-1);
  const off = intervalAt(overlay?.pictureMs ?? Number.NaN) - (quizEvent?.interval ?? Number.NaN);
  expect(Math.abs(off)).toBeLessThanOrEqual(1);
  await answer(behind.page, 'Jupiter');

  const waitMs = openedMs + 8_000 - Date.now();
  await Bun.sleep(Math.max(0, waitMs));
  const late = await fixture.watch(streamId, { viewport });
  await quizOf(late.page).getByRole('heading', { name: 'Which planet' }).waitFor();
  await answer(late.page, 'Mars');
  // After a reload the answer is still there.
  await late.page.reload();
  await quizOf(late.page).getByText('Answer locked in!').waitFor();

  type Answered = { readonly quizId: string; readonly choice: string };
  const answers = await fixture.exported<Answered>(streamId, 'answers');
  const counted = answers.filter(({ quizId }) => quizId === id).map(({ choice }) => choice);
  expect(counted.sort()).toEqual(['Jupiter', 'Mars']);
  expect([...behind.errors, ...late.errors]).toEqual([]);
}, 40_000);
