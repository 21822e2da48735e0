import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { eventsFrom } from '../support/conformance/feed-viewer.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { expectJson, manualClock, START_MS, type TestViewer } from '../support/harness/harness.ts';
import {
  claimWin,
  closeQuiz,
  newDirectory,
  readInterval,
  requestWinners,
  resultsOf,
  start,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Tests of the invariants in SPEC I. Each proves a guard in the code; `test/guards.ts` lists them, and
// `npm run guards` removes each guard from a copy and checks that its test fails.

afterEach(stopAll);

describe('I-5: the view count is the number of distinct seats', () => {
  test('[I-5] [V-5] a viewer with several tabs and repeated heartbeats counts once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const people = ['a', 'b', 'a', 'c', 'a'];
    const tabs = await Promise.all(people.map((person) => harness.viewer(streamId, person)));
    for (let interval = 0; interval < 6; interval++) {
      for (const tab of tabs) await sendHeartbeat(tab);
      expect(await readViewCount(tabs[0] as TestViewer)).toBe(3);
      await harness.advance(1);
    }
  });

  test('[I-5] [V-3] a viewer without heartbeats leaves the count after a second, in the feed too', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const [stays, leaves] = await Promise.all(
      ['a', 'b'].map((name) => harness.viewer(streamId, name)),
    );
    await sendHeartbeat(leaves as TestViewer);
    for (let interval = 0; interval < 8; interval++) {
      await sendHeartbeat(stays as TestViewer);
      await harness.advance(1);
    }
    expect(await readViewCount(stays as TestViewer)).toBe(1);
    const events = await eventsFrom(harness, stays as TestViewer, harness.interval() - 4);
    expect(events.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'view-count', data: { value: 1, formatted: '1' } },
    ]);
  });
});

describe('I-6: a token opens only its own stream, and no answer is sent early', () => {
  test('[I-6] [T-13] a viewer token is refused on every route of another stream', async () => {
    const harness = await start();
    const own = await harness.viewer(await harness.createStream());
    const other = await harness.createStream();
    const quiz = await harness.publishQuiz(other);
    await requestWinners(harness, other);
    await harness.advance(1);
    const statuses = await Promise.all([
      own.post(`/api/v1/view-counts/${other}`),
      own.get(`/api/v1/view-counts/${other}`),
      own.get(`/api/v1/events-streams/${other}?interval=${harness.interval() - 1}`),
      own.post(`/api/v1/events-streams/${other}/chats`, { kind: 'heart' }),
      own.post(`/api/v1/quizzes/${other}/record-winner`),
      own.post(`/api/v1/quizzes/${quiz.id}/answer`, {
        streamId: other,
        choice: 'Mars',
        closeInterval: quiz.closeInterval,
      }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 401]);
  });

  test('[I-6] [T-6] a viewer token is refused from its exp on, although it was cached as valid', async () => {
    const clock = manualClock(START_MS);
    const harness = await start({ clock });
    const viewer = await harness.viewer(await harness.createStream());
    const path = `/api/v1/view-counts/${viewer.streamId}`;
    clock.set(START_MS + 599_999);
    expect((await viewer.post(path)).status).toBe(204);
    clock.set(START_MS + 600_000);
    expect((await viewer.post(path)).status).toBe(401);
  });

  test('[I-6] [Q-22] the feed does not contain the answer of a quiz before it is revealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await closeQuiz(harness, quiz);
    await harness.advance(4);
    const events = await eventsFrom(harness, viewer, from);
    const quizzes = events.filter(({ type }) => type.startsWith('quiz'));
    expect(quizzes.map(({ type }) => type)).toEqual(['quiz']);
    expect(JSON.stringify(quizzes)).not.toContain('"answer"');
    expect(JSON.stringify(quizzes)).not.toContain('"count":1');
  });

  test('[I-6] [W-3] replies to winner reports do not depend on the answer before it is revealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const [winner, loser] = await Promise.all([1, 2].map(() => harness.viewer(streamId)));
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    await answer(winner as TestViewer, quiz, 'Jupiter');
    await answer(loser as TestViewer, quiz, 'Mars');
    for (const isClosed of [false, true]) {
      if (isClosed) await closeQuiz(harness, quiz);
      const { status } = await requestWinners(harness, streamId);
      const claims = [await claimWin(winner as TestViewer), await claimWin(loser as TestViewer)];
      const claimStatuses = claims.map((response) => response.status);
      expect({ isClosed, status, claimStatuses }).toEqual({
        isClosed,
        status: 409,
        claimStatuses: [409, 409],
      });
    }
  });
});

describe('I-7: invalid input and an unavailable backend lose nothing', () => {
  test('[I-7] [G-20] [G-21] an invalid answer gets a 400 with a reason, and a valid one still counts', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const valid = { streamId, choice: 'Mars', closeInterval: quiz.closeInterval };
    const invalid = [
      JSON.stringify(valid).replace('"choice"', '"choice":"Jupiter","choice"'),
      JSON.stringify({ ...valid, choice: null }),
      JSON.stringify({ ...valid, closeInterval: String(quiz.closeInterval) }),
      JSON.stringify({ ...valid, choice: 'Pluto' }),
      JSON.stringify(valid).slice(0, -1),
    ];
    for (const body of invalid) {
      const response = await fetch(`${harness.url}/api/v1/quizzes/${quiz.id}/answer`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${viewer.token}`, 'Content-Type': 'application/json' },
        body,
      });
      const { detail } = await expectJson<{ detail: string }>(response, 400);
      expect(detail).toMatch(/^\S+ .*\.$/);
    }
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await closeQuiz(harness, quiz);
    const counts = await resultsOf(harness, viewer, from);
    expect([counts.Mars?.count, counts.Jupiter?.count]).toEqual([0, 1]);
  });

  test('[I-7] [R-15] [R-16] an answer gets a 503 within a second while the database blocks, and its retry counts', async () => {
    const directory = newDirectory();
    const harness = await start({ directory });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    await harness.advance(1);
    await sendHeartbeat(viewer);
    const blocker = new Database(join(directory, 'record.sqlite'));
    blocker.run('begin immediate');
    const startedMs = performance.now();
    const refused = await Promise.race([answer(viewer, quiz, 'Jupiter'), Bun.sleep(2_000)]);
    const tookMs = performance.now() - startedMs;
    await sendHeartbeat(viewer);
    expect(await readViewCount(viewer)).toBe(1);
    expect(await readInterval(viewer, harness.interval() - 1)).toContain('"quiz"');
    blocker.run('rollback');
    blocker.close();
    expect(refused?.status).toBe(503);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(tookMs).toBeLessThan(1_000);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await closeQuiz(harness, quiz);
    expect((await resultsOf(harness, viewer, from)).Jupiter?.count).toBe(1);
  });
});

async function sendHeartbeat(viewer: TestViewer): Promise<void> {
  expect((await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status).toBe(204);
}

async function readViewCount(viewer: TestViewer): Promise<number> {
  const response = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
  return (await expectJson<{ value: number }>(response, 200)).value;
}
