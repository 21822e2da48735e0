import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { expectJson, manualClock, START_MS, type TestViewer } from '../support/harness/harness.ts';

import {
  answer,
  bytesOf,
  claim,
  close,
  eventsBetween,
  newDirectory,
  requestWinners,
  resultsOf,
  start,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Each invariant of SPEC I, with the guard it stands on. The comment above a test names the line to
// take out to see the test go red; `npm run guards` does that for all of them, in a copy.

afterEach(stopAll);

describe('I-5: the count is that of distinct seats', () => {
  // Remove the `if` of `register`, and ` & ~Atomics.or(cells, at, seats)`, in server/realtime/presence/presence-cells.ts.
  test('[I-5] [V-5] tabs and repeated posts of a viewer count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const people = ['a', 'b', 'a', 'c', 'a'];
    const tabs = await Promise.all(people.map((person) => harness.viewer(streamId, person)));
    for (let interval = 0; interval < 6; interval++) {
      for (const tab of tabs) await post(tab);
      expect(await countOf(tabs[0] as TestViewer)).toBe(3);
      await harness.advance(1);
    }
  });

  // Remove `Atomics.sub(control, TOTAL, popcount(gone));` in server/realtime/presence/presence-cells.ts.
  test('[I-5] [V-3] who stays away is gone after a second, in the feed too', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const [stays, leaves] = await Promise.all(
      ['a', 'b'].map((who) => harness.viewer(streamId, who)),
    );
    await post(leaves as TestViewer);
    for (let interval = 0; interval < 8; interval++) {
      await post(stays as TestViewer);
      await harness.advance(1);
    }
    expect(await countOf(stays as TestViewer)).toBe(1);
    const told = await eventsBetween(
      harness,
      stays as TestViewer,
      harness.interval() - 4,
      harness.interval() - 1,
    );
    expect(told.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'view-count', data: { value: 1, formatted: '1' } },
    ]);
  });
});

describe('I-6: a token opens its own stream, and no answer leaves early', () => {
  // Remove the `if` in `ofStream` of server/auth/credentials.ts.
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

  // Remove `if (viewer.expiresMs > this.options.clock.nowMs()) ` in server/auth/viewer-tokens/viewer-tokens.ts.
  test('[I-6] [T-6] a token that was good a moment ago is refused from its exp on', async () => {
    const clock = manualClock(START_MS);
    const harness = await start({ clock });
    const viewer = await harness.viewer(await harness.createStream());
    const path = `/api/v1/view-counts/${viewer.streamId}`;
    clock.set(START_MS + 599_999);
    expect((await viewer.post(path)).status).toBe(204);
    clock.set(START_MS + 600_000);
    expect((await viewer.post(path)).status).toBe(401);
  });

  // Remove `if (quiz.reveal === 'auto') ` in server/domains/quizzes/quizzes-sql.ts.
  test('[I-6] [Q-22] nothing tells the answer of a quiz before it is revealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await close(harness, quiz);
    await harness.advance(4);
    const told = await eventsBetween(harness, viewer, from, harness.interval() - 1);
    const quizzes = told.filter(({ type }) => type.startsWith('quiz'));
    expect(quizzes.map(({ type }) => type)).toEqual(['quiz']);
    expect(JSON.stringify(quizzes)).not.toContain('"answer"');
    expect(JSON.stringify(quizzes)).not.toContain('"count":1');
  });

  // Remove `if (blocker) throw new DomainError('conflict', blocker);` in server/domains/quizzes/winners-sql.ts.
  test('[I-6] [W-3] no yes or no to a winner tells the answer before it is revealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const [right, wrong] = await Promise.all([1, 2].map(() => harness.viewer(streamId)));
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    await answer(right as TestViewer, quiz, 'Jupiter');
    await answer(wrong as TestViewer, quiz, 'Mars');
    for (const isClosed of [false, true]) {
      if (isClosed) await close(harness, quiz);
      const { status } = await requestWinners(harness, streamId);
      const claims = [await claim(right as TestViewer), await claim(wrong as TestViewer)];
      const told = claims.map((response) => response.status);
      expect({ isClosed, status, told }).toEqual({ isClosed, status: 409, told: [409, 409] });
    }
  });
});

describe('I-7: bad input and a missing backend lose nothing', () => {
  // Remove `if (keysRead(value) !== keysWritten) throw …` in server/http/json.ts.
  test('[I-7] [G-20] [G-21] bad input is told what is wrong, and takes nobody’s answer', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const good = { streamId, choice: 'Mars', closeInterval: quiz.closeInterval };
    const bad = [
      JSON.stringify(good).replace('"choice"', '"choice":"Jupiter","choice"'),
      JSON.stringify({ ...good, choice: null }),
      JSON.stringify({ ...good, closeInterval: String(quiz.closeInterval) }),
      JSON.stringify({ ...good, choice: 'Pluto' }),
      JSON.stringify(good).slice(0, -1),
    ];
    for (const body of bad) {
      const response = await fetch(`${harness.url}/api/v1/quizzes/${quiz.id}/answer`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${viewer.token}`, 'Content-Type': 'application/json' },
        body,
      });
      const { detail } = await expectJson<{ detail: string }>(response, 400);
      expect(detail).toMatch(/^\S+ .*\.$/);
    }
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await close(harness, quiz);
    const counts = await resultsOf(harness, viewer, from);
    expect([counts.Mars?.count, counts.Jupiter?.count]).toEqual([0, 1]);
  });

  // Remove `call.reject(new Unavailable('The database did not answer in time.'));` in
  // server/storage/sql/database-sqlite.ts.
  test('[I-7] [R-15] [R-16] with a record that does not answer it is 503 in under a second, and the retry counts', async () => {
    const directory = newDirectory();
    const harness = await start({ directory });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    await harness.advance(1);
    await post(viewer);
    const other = new Database(join(directory, 'record.sqlite'));
    other.run('begin immediate');
    const startedMs = performance.now();
    const refused = await Promise.race([answer(viewer, quiz, 'Jupiter'), Bun.sleep(2_000)]);
    const tookMs = performance.now() - startedMs;
    await post(viewer);
    expect(await countOf(viewer)).toBe(1);
    expect(await bytesOf(viewer, harness.interval() - 1)).toContain('"quiz"');
    other.run('rollback');
    other.close();
    expect(refused?.status).toBe(503);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(tookMs).toBeLessThan(1_000);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(204);
    await close(harness, quiz);
    expect((await resultsOf(harness, viewer, from)).Jupiter?.count).toBe(1);
  });
});

async function post(viewer: TestViewer): Promise<void> {
  expect((await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status).toBe(204);
}

async function countOf(viewer: TestViewer): Promise<number> {
  const response = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
  return (await expectJson<{ value: number }>(response, 200)).value;
}
