import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { QuizResults } from '../../protocol/quizzes.ts';
import type { Stream } from '../../protocol/streams.ts';
import { Unavailable } from '../../server/platform/errors.ts';
import { expectNoContent, expectProblem } from '../support/conformance/expectations.ts';
import { eventsFrom, ofType } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import {
  expectJson,
  type Harness,
  type ManualClock,
  manualClock,
  QUIZ,
  START_MS,
  startService,
} from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';

const DOWNTIME_INTERVALS = 200;

let folder: ReturnType<typeof temporaryFolder>;
let clock: ManualClock;
beforeEach(() => {
  folder = temporaryFolder();
  clock = manualClock(START_MS);
});
afterEach(() => folder.remove());

/** Runs `work` with a service whose data stays for the next service. */
async function withService<T>(work: (harness: Harness) => Promise<T>): Promise<T> {
  await using harness = await startService({ clock, directory: folder.path('data') });
  return await work(harness);
}
/** Advances the clock while no service runs. */
const advanceDowntime = () => clock.set(clock.nowMs() + DOWNTIME_INTERVALS * 250);

test('[R-8] [I-4] work that fell due during downtime is done once, with the first sealing after the restart', async () => {
  const { id, from } = await withService(async (harness) => {
    const stream = await harness.createStream();
    const viewer = await harness.viewer(stream);
    await harness.advance(1);
    const start = harness.interval();
    const quiz = await harness.publishQuiz(stream, { duration: 1_000 });
    await harness.publishQuiz(stream, { duration: 1_000, reveal: 'manual' });
    await expectNoContent(await answer(viewer, quiz));
    const at = clock.nowMs() + 5_000;
    await expectJson(await harness.studio('POST', `/streams/${stream}/end`, { at }), 200);
    await harness.advance(1);
    return { id: stream, from: start };
  });
  advanceDowntime();
  for (let life = 0; life < 2; life++) {
    await withService(async (harness) => {
      const restarted = harness.interval();
      await harness.advance(3);
      const events = await eventsFrom(harness, await harness.viewer(id), from);
      const [result, ...others] = ofType<QuizResults>(events, 'quiz-results');
      expect(others).toEqual([]);
      if (life === 0) expect(result?.interval).toBe(restarted);
      expect(result?.data.choices[QUIZ.answer]).toEqual({ count: 1, percentage: 100 });
      const detail = await fetch(`${harness.url}/api/v1/streams/${id}/`);
      expect((await expectJson<Stream>(detail, 200)).status).toBe('ENDED');
    });
  }
});

test('[R-8] [I-4] an open winners round is counted once after a restart', async () => {
  const { id, from } = await withService(async (harness) => {
    const stream = await harness.createStream();
    const viewer = await harness.viewer(stream);
    await harness.advance(1);
    const start = harness.interval();
    await expectJson(await harness.studio('POST', `/streams/${stream}/request-winners`), 201);
    await harness.advance(1);
    await expectNoContent(await viewer.post(`/api/v1/quizzes/${stream}/record-winner`));
    return { id: stream, from: start };
  });
  advanceDowntime();
  for (let life = 0; life < 2; life++) {
    await withService(async (harness) => {
      await harness.advance(6);
      const events = await eventsFrom(harness, await harness.viewer(id), from);
      const ofRound = events.filter(({ type }) => type !== 'view-count');
      expect(ofRound.map(({ type, data }) => [type, data])).toEqual([
        ['request-quiz-winners', null],
        ['quiz-winners', { count: 1 }],
      ]);
    });
  }
});

test('[R-9] [I-1] intervals of the downtime are empty, and earlier ones keep their bytes', async () => {
  const before = await withService(async (harness) => {
    const stream = await harness.createStream();
    const viewer = await harness.viewer(stream);
    await harness.advance(1);
    const bodies = new Map<number, string>();
    for (let i = 0; i < 6; i++) {
      const path = `/api/v1/events-streams/${stream}`;
      await viewer.post(`${path}/chats`, { kind: 'message', text: `${i}` });
      await harness.advance(1);
      const interval = harness.interval() - 1;
      bodies.set(interval, await (await viewer.get(`${path}?interval=${interval}`)).text());
    }
    return { stream, bodies, sealedTo: harness.interval() - 1 };
  });
  advanceDowntime();
  await withService(async (harness) => {
    await harness.advance(1);
    const viewer = await harness.viewer(before.stream);
    const textOf = async (interval: number) => {
      const path = `/api/v1/events-streams/${before.stream}?interval=${interval}`;
      return (await viewer.get(path)).text();
    };
    for (const [interval, body] of before.bodies) expect(await textOf(interval)).toBe(body);
    const missed = [1, 2, DOWNTIME_INTERVALS / 2, DOWNTIME_INTERVALS - 1].map(
      (n) => before.sealedTo + n,
    );
    for (const interval of missed) {
      expect(await textOf(interval)).toBe(`{"interval":${interval},"events":[]}`);
    }
  });
});

test('[R-16] [R-15] [I-7] while the database is unavailable, counting and recent intervals work, and other requests return 503', async () => {
  let isUnavailable = false;
  const harness = await startService({
    store: (store) =>
      new Proxy(store, {
        get(target, name: keyof typeof store) {
          const call = target[name] as (...input: unknown[]) => Promise<unknown>;
          return (...input: unknown[]) =>
            isUnavailable
              ? Promise.reject(new Unavailable('The database is unavailable.'))
              : call(...input);
        },
      }),
  });
  try {
    const stream = await harness.createStream();
    const [known, unseen] = [await harness.viewer(stream), await harness.viewer(stream)];
    const path = `/api/v1/view-counts/${stream}`;
    await expectNoContent(await known.post(path));
    await harness.advance(8);
    const sealed = harness.interval() - 1;
    isUnavailable = true;
    await expectNoContent(await known.post(path));
    await expectNoContent(await unseen.post(path));
    const { value } = await expectJson<{ value: number }>(await known.get(path), 200);
    expect(value).toBe(2);
    const feed = await known.get(`/api/v1/events-streams/${stream}?interval=${sealed}`);
    expect(feed.status).toBe(200);
    const refused = [
      fetch(`${harness.url}/api/v1/streams/${stream}/`),
      harness.studio('GET', '/account'),
      known.post(`/api/v1/quizzes/${stream}/record-winner`),
    ];
    for (const response of await Promise.all(refused)) {
      await expectProblem(response, 503);
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    isUnavailable = false;
    expect((await harness.studio('GET', '/account')).status).toBe(200);
  } finally {
    isUnavailable = false;
    await harness.close();
  }
});
