import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { QuizResults } from '../protocol/quizzes.ts';
import { GUARDS } from './guards.ts';
import {
  expectJson,
  type Harness,
  type HarnessOptions,
  type ManualClock,
  manualClock,
  type PublishedQuiz,
  START_MS,
  startService,
  type TestViewer,
} from './harness.ts';

// Each invariant of SPEC I, with the guard it stands on. The comment above a test names the line to
// take out to see the test go red; `npm run guards` does that for all of them, in a copy.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const running: Harness[] = [];
const directories: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((harness) => harness.close()));
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true });
  }
});

async function start(options: HarnessOptions = {}): Promise<Harness> {
  const harness = await startService(options);
  running.push(harness);
  return harness;
}

async function stop(harness: Harness): Promise<void> {
  running.splice(running.indexOf(harness), 1);
  await harness.close();
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-invariants-'));
  directories.push(directory);
  return directory;
}

async function bytesOf(viewer: TestViewer, interval: number): Promise<string> {
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
  const response = await viewer.get(path);
  expect(response.status).toBe(200);
  return response.text();
}

async function eventsBetween(harness: Harness, viewer: TestViewer, from: number, to: number) {
  const events: { interval: number; type: string; data: unknown }[] = [];
  for (let interval = from; interval <= to; interval++) {
    for (const event of await harness.events(viewer, interval)) events.push({ interval, ...event });
  }
  return events;
}

const answer = (viewer: TestViewer, quiz: PublishedQuiz, choice: unknown) =>
  viewer.post(`/api/v1/quizzes/${quiz.id}/answer`, {
    streamId: viewer.streamId,
    choice,
    closeInterval: quiz.closeInterval,
  });
const claim = (viewer: TestViewer) =>
  viewer.post(`/api/v1/quizzes/${viewer.streamId}/record-winner`);
const sendEvent = (harness: Harness, streamId: string, number: number) =>
  harness.studio('POST', `/streams/${streamId}/events`, { type: 'tick', data: { number } });
const requestWinners = (harness: Harness, streamId: string) =>
  harness.studio('POST', `/streams/${streamId}/request-winners`);

/** Moves on until the quiz is closed and sealed. */
const close = (harness: Harness, quiz: PublishedQuiz) =>
  harness.advance(quiz.closeInterval + 1 - harness.interval());

/** The counts that viewers are told when the quiz is over. */
async function resultsOf(harness: Harness, viewer: TestViewer, from: number) {
  const events = await eventsBetween(harness, viewer, from, harness.interval() - 1);
  const results = events.filter(({ type }) => type === 'quiz-results');
  expect(results).toHaveLength(1);
  const [{ choices }] = results.map(({ data }) => data) as [QuizResults];
  return choices;
}

describe('I-1: an interval keeps the bytes it was served with', () => {
  // Remove ` where interval = $1 and interval < $2` in server/feed/sealing-sql.ts.
  test('[I-1] [F-12] an interval that was served is never sealed again', async () => {
    const directory = newDirectory();
    const first = await start({ directory });
    const streamId = await first.createStream();
    const viewer = await first.viewer(streamId);
    await first.advance(2);
    const interval = first.interval() - 1;
    const served = await bytesOf(viewer, interval);
    expect((await sendEvent(first, streamId, 1)).status).toBe(201);
    const again = { after: interval - 1, interval, nowMs: first.clock.nowMs(), transients: [] };
    const refused = await first.record.sealInterval(again).catch((error: Error) => error.message);
    await stop(first);
    const second = await start({ directory });
    expect(await bytesOf(await second.viewer(streamId), interval)).toBe(served);
    expect(refused).toContain('sealed already');
  });

  // Remove `if (interval > this.sealed) return this.hold(streamId, interval);` in
  // server/feed/feed-log-memory.ts.
  test('[I-1] [F-4] [F-13] nobody is served an interval before it is sealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    const interval = harness.interval();
    const early = bytesOf(viewer, interval);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    await harness.advance(1);
    const late = await bytesOf(viewer, interval);
    expect(await early).toBe(late);
    expect(late).toContain('"number":1');
  });

  // Remove `if (this.failing) await this.recover();` in server/feed/sealer.ts.
  test('[I-1] [F-13] a sealing whose answer was lost is served as it was committed', async () => {
    let loses = false;
    const harness = await start({
      record: (record) => ({
        ...record,
        sealInterval: async (sealing) => {
          const bodies = await record.sealInterval(sealing);
          if (loses) throw new Error('the answer was lost');
          return bodies;
        },
      }),
    });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    const interval = harness.interval();
    loses = true;
    await harness.advance(1);
    loses = false;
    await harness.advance(1);
    expect(harness.service.stats.watermark()).toBe(interval + 1);
    expect(await bytesOf(viewer, interval)).toContain('"number":1');
  });
});

describe('I-2: an acknowledged event is in exactly one interval', () => {
  // Remove `await takeFromOutbox(tx, streamId, taken);` in server/feed/sealing-sql.ts.
  test('[I-2] [F-14] events are in one interval each, restarts and failed sealings included', async () => {
    const directory = newDirectory();
    const clock = manualClock(START_MS);
    let fails = false;
    const failing: HarnessOptions = {
      directory,
      clock,
      record: (record) => ({
        ...record,
        sealInterval: (sealing) =>
          fails ? Promise.reject(new Error('the disk failed')) : record.sealInterval(sealing),
      }),
    };
    const first = await start(failing);
    const from = first.interval();
    const streamId = await first.createStream();
    for (let number = 1; number <= 3; number++) await sendEvent(first, streamId, number);
    await first.advance(2);
    for (let number = 4; number <= 6; number++) await sendEvent(first, streamId, number);
    fails = true;
    await first.advance(1);
    await stop(first);
    fails = false;
    const second = await start({ directory, clock });
    await second.advance(3);
    const viewer = await second.viewer(streamId);
    const events = await eventsBetween(second, viewer, from, second.interval() - 1);
    const numbers = events.map(({ data }) => (data as { number: number }).number);
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('I-3: an acknowledged answer counts once, a refused one never', () => {
  // Remove `quiz.state === 'open' && ` in server/quizzes/quiz-rules.ts.
  test('[I-3] [Q-17] an answer in time that meets a counted quiz is refused', async () => {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const harness = await start({
      record: (record) => ({
        ...record,
        recordAnswers: async (answers) => {
          arrived.resolve();
          await released.promise;
          return record.recordAnswers(answers);
        },
      }),
    });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const inTime = answer(viewer, quiz, 'Jupiter');
    await arrived.promise;
    await close(harness, quiz);
    released.resolve();
    const { status } = await inTime;
    const counts = await resultsOf(harness, viewer, from);
    expect({ status, count: counts.Jupiter?.count }).toEqual({ status: 409, count: 0 });
  });

  // Remove `recorded.set(key, choice);` in server/quizzes/answers-sql.ts.
  test('[I-3] [Q-13] [Q-14] answers of one seat that come together count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const tabs = await Promise.all([1, 2, 3, 4].map(() => harness.viewer(streamId, 'one person')));
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    const choices = ['Jupiter', 'Mars', 'Jupiter', 'Venus', 'Mars', 'Jupiter'];
    const tries = tabs.flatMap((tab) => choices.map((choice) => ({ tab, choice })));
    const told = await Promise.all(
      tries.map(async ({ tab, choice }) => ({
        choice,
        status: (await answer(tab, quiz, choice)).status,
      })),
    );
    const acknowledged = new Set(
      told.filter(({ status }) => status === 204).map(({ choice }) => choice),
    );
    expect(acknowledged.size).toBe(1);
    expect(told.filter(({ status }) => status !== 204 && status !== 409)).toEqual([]);
    await close(harness, quiz);
    const counts = await resultsOf(harness, tabs[0] as TestViewer, from);
    const counted = Object.entries(counts).filter(([, { count }]) => count > 0);
    expect(counted).toEqual([[[...acknowledged][0] as string, { count: 1, percentage: 100 }]]);
  });

  // Remove the `if` that compares with `answer.recordedChoice` in server/quizzes/quiz-rules.ts.
  test('[I-3] [Q-14] the first answer of a seat stands', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    expect((await answer(viewer, quiz, 'Jupiter')).status).toBe(409);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    await close(harness, quiz);
    expect((await answer(viewer, quiz, 'Mars')).status).toBe(204);
    const counts = await resultsOf(harness, viewer, from);
    expect([counts.Mars?.count, counts.Jupiter?.count]).toEqual([1, 0]);
  });
});

describe('I-4: results and winners are published once', () => {
  // Remove `state = 'open' and ` in `closeDueQuizzes` of server/quizzes/quizzes-sql.ts.
  test('[I-4] [Q-19] [R-8] a quiz has its results once, also when a restart carries it out', async () => {
    const directory = newDirectory();
    const first = await start({ directory });
    const streamId = await first.createStream();
    const from = first.interval();
    const quiz = await first.publishQuiz(streamId);
    await first.advance(2);
    await stop(first);
    const second = await start({ directory });
    (second.clock as ManualClock).set(START_MS + 60_000);
    await second.advance(8);
    const viewer = await second.viewer(streamId);
    expect(quiz.closeInterval).toBeLessThan(second.interval());
    await resultsOf(second, viewer, from);
  });

  // Remove `state = 'open' and ` in `closeDueRounds` of server/quizzes/winners-sql.ts.
  test('[I-4] [W-5] a round has its count once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    expect((await requestWinners(harness, streamId)).status).toBe(201);
    expect((await claim(viewer)).status).toBe(204);
    await harness.advance(12);
    const events = await eventsBetween(harness, viewer, from, harness.interval() - 1);
    const counts = events.filter(({ type }) => type === 'quiz-winners');
    expect(counts.map(({ data }) => data)).toEqual([{ count: 1 }]);
  });

  // Remove `if (quiz.state === 'closed') ` in `revealQuiz` and `if (affected === 1) ` in `reveal` of
  // server/quizzes/quizzes-sql.ts: either alone is enough to keep the other's promise.
  test('[I-4] [P-20] a quiz that is revealed again, and twice at once, has its results once', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    const from = harness.interval();
    const quiz = await harness.publishQuiz(streamId, { reveal: 'manual' });
    await close(harness, quiz);
    const reveal = () => harness.studio('POST', `/quizzes/${quiz.id}/reveal`);
    const both = await Promise.all([reveal(), reveal()]);
    expect([...both, await reveal()].map(({ status }) => status)).toEqual([200, 200, 200]);
    await harness.advance(2);
    await resultsOf(harness, viewer, from);
  });
});

describe('I-5: the count is that of distinct seats', () => {
  // Remove `if ((unionOf(bits, first) & mask) === 0) ` in server/audience/seat-ring.ts.
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

  // Remove `this.#total -= gone;` in server/audience/seat-ring.ts.
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
  // Remove the `if` in `ofStream` of server/http/credentials.ts.
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

  // Remove `if (viewer.expiresMs > this.options.clock.nowMs()) ` in server/tokens/viewer-tokens.ts.
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

  // Remove `if (quiz.reveal === 'auto') ` in server/quizzes/quizzes-sql.ts.
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

  // Remove `if (blocker) throw new Refusal('conflict', blocker);` in server/quizzes/winners-sql.ts.
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

  // Remove `call.reject(new Unavailable('The record did not answer in time.'));` in
  // server/sql/record-sqlite.ts.
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

test('every guard is where the comments say, once, and its test is in its file', () => {
  for (const { removals, file, title } of GUARDS) {
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(title);
    for (const { file: source, line } of removals) {
      const found = readFileSync(join(ROOT, source), 'utf8').split(line).length - 1;
      expect({ source, line, found }).toEqual({ source, line, found: 1 });
    }
  }
});

async function post(viewer: TestViewer): Promise<void> {
  expect((await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status).toBe(204);
}

async function countOf(viewer: TestViewer): Promise<number> {
  const response = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
  return (await expectJson<{ value: number }>(response, 200)).value;
}
