import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import {
  addPictureClock,
  behindMsOf,
  type Overlay,
  overlaysOf,
  seekTo,
} from '../support/player/picture-clock.ts';
import { ShowFixture, type WatchSession } from '../support/player/show-fixture.ts';
import { until } from '../support/until.ts';

// The test video contains the time: the test reads which frame was on screen when a quiz appeared,
// independently of the player.

const LATENCIES_MS = [2_000, 5_000, 10_000];
const QUIZZES = 3;
const QUIZ_PERIOD_MS = 1_500;
/** How far the video's latency may be from the intended one. */
const TOLERANCE_MS = 400;

let fixture: ShowFixture;
let streamId: string;

beforeAll(async () => {
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ latencyAllowance: 15_000 });
  await fixture.play(streamId);
}, 60_000);
afterAll(() => fixture?.close());

/** Seeks until the video has and keeps this latency. */
async function setLatency({ page }: WatchSession, latencyMs: number): Promise<void> {
  const hasLatency = async () =>
    Math.abs(((await behindMsOf(page)) ?? Number.NaN) - latencyMs) < TOLERANCE_MS;
  await until(
    `video ${latencyMs} ms behind`,
    async () => {
      if (!(await hasLatency())) await seekTo(page, latencyMs);
      await Bun.sleep(500);
      return hasLatency();
    },
    20_000,
  );
}

// One page at a time: three of them, with the encoder, need more than two slow cores, and their video stalls.
test.each(LATENCIES_MS)(
  '[M-12] a quiz appears over video %d ms behind within an interval of its frame',
  async (latencyMs) => {
    const viewport = { width: 640, height: 480 };
    const session = await fixture.watch(streamId, { viewport }, addPictureClock);
    await setLatency(session, latencyMs);
    const questions = Array.from(
      { length: QUIZZES },
      (_, n) => `Quiz ${n + 1} at ${latencyMs} ms?`,
    );
    for (const question of questions) {
      await fixture.publishQuiz(streamId, { question, duration: 1_000, reveal: 'manual' });
      await Bun.sleep(QUIZ_PERIOD_MS);
    }
    const seen = await until(`${QUIZZES} quizzes`, async () => {
      // Behind the others, this page shows their last quizzes first.
      const all = await overlaysOf(session.page);
      const overlays = all.filter(({ question }) => questions.includes(question));
      return overlays.length >= QUIZZES && overlays;
    });
    const published = (await fixture.feedEvents(streamId)).filter(({ type }) => type === 'quiz');
    const intervals = new Map(
      published.map(({ interval, data }) => [(data as { question: string }).question, interval]),
    );
    const intervalOf = ({ question }: Overlay) => intervals.get(question) ?? Number.NaN;
    const off = seen.map((one) => intervalAt(one.pictureMs) - intervalOf(one));
    const lateMs = seen.map((one) => one.pictureMs - intervalStartMs(intervalOf(one)));
    const behindMs = seen.map(({ nowMs, pictureMs }) => nowMs - pictureMs);
    console.log(
      `${latencyMs} ms behind (${behindMs.join(', ')}): intervals off ${off.join(', ')}, frame after the start of the interval ${lateMs.join(', ')} ms`,
    );
    expect(seen.map(({ question }) => question)).toEqual(questions);
    expect(Math.max(...off.map(Math.abs))).toBeLessThanOrEqual(1);
    for (const ms of behindMs) expect(Math.abs(ms - latencyMs)).toBeLessThan(1_000);
    expect(session.errors).toEqual([]);
    await session.context.close();
  },
  60_000,
);
