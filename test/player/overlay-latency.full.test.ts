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
let sessions: readonly WatchSession[];

beforeAll(async () => {
  fixture = await ShowFixture.start();
  streamId = await fixture.createStream({ latencyAllowance: 15_000 });
  await fixture.play(streamId);
  const viewport = { width: 640, height: 480 };
  sessions = await Promise.all(
    LATENCIES_MS.map(() => fixture.watch(streamId, { viewport }, addPictureClock)),
  );
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

test('[M-12] a quiz appears over the video within an interval of its frame, at each latency', async () => {
  await Promise.all(
    sessions.map((session, index) => setLatency(session, LATENCIES_MS[index] ?? 0)),
  );
  for (let n = 1; n <= QUIZZES; n++) {
    await fixture.publishQuiz(streamId, {
      question: `Quiz ${n}?`,
      duration: 1_000,
      reveal: 'manual',
    });
    await Bun.sleep(QUIZ_PERIOD_MS);
  }
  const all = await Promise.all(
    sessions.map(({ page }) =>
      until(`${QUIZZES} quizzes`, async () => {
        const seen = await overlaysOf(page);
        return seen.length >= QUIZZES && seen;
      }),
    ),
  );
  const published = (await fixture.feedEvents(streamId)).filter(({ type }) => type === 'quiz');
  const intervals = new Map(
    published.map(({ interval, data }) => [(data as { question: string }).question, interval]),
  );
  for (const [at, seen] of all.entries()) {
    const latencyMs = LATENCIES_MS[at] ?? 0;
    const intervalOf = ({ question }: Overlay) => intervals.get(question) ?? Number.NaN;
    const off = seen.map((one) => intervalAt(one.pictureMs) - intervalOf(one));
    const lateMs = seen.map((one) => one.pictureMs - intervalStartMs(intervalOf(one)));
    const behindMs = seen.map(({ nowMs, pictureMs }) => nowMs - pictureMs);
    console.log(
      `${latencyMs} ms behind (${behindMs.join(', ')}): intervals off ${off.join(', ')}, frame after the start of the interval ${lateMs.join(', ')} ms`,
    );
    expect(seen.map(({ question }) => question)).toEqual(['Quiz 1?', 'Quiz 2?', 'Quiz 3?']);
    expect(Math.max(...off.map(Math.abs))).toBeLessThanOrEqual(1);
    for (const ms of behindMs) expect(Math.abs(ms - latencyMs)).toBeLessThan(1_000);
  }
  expect(sessions.flatMap(({ errors }) => errors)).toEqual([]);
}, 40_000);
