import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Scheduler } from '../../../test/support/scheduler.ts';
import { createVirtualRuntime } from '../../../test/support/simulation/virtual-runtime.ts';
import { RateLimited, Unavailable } from '../../platform/errors.ts';
import { RateLimiter, SeatWindows } from '../../platform/rate-limiter.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { AnswerService } from './answer-service.ts';
import type { AnswerDecision, ArrivedAnswer } from './quiz-rules.ts';
import type { PublishedQuiz } from './quizzes-sql.ts';
import type { ClaimDecision, WinnerClaim } from './winners-sql.ts';

const STREAM = '0f8fad5b-d9cb-469f-a165-70867728950e';
const QUIZ = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const NOW_MS = 1_760_000_000_000;
const CLOSE_INTERVAL = 7_040_000_100;
const LIMIT_POINTS = 3;

const quizRow = {
  id: QUIZ,
  number: 7,
  position: 0,
  streamId: STREAM,
  state: 'open',
  revision: 0,
  question: 'Which?',
  choices: ['Mars', 'Süd & "Nord"'],
  answer: 0,
  durationMs: 10_000,
  reveal: 'auto',
  created: NOW_MS,
  closeInterval: CLOSE_INTERVAL,
  game: 1,
  counts: null,
} as const;

const viewerOf = (seat: number, streamId = STREAM) => ({ streamId, seat });
const answerOf = (choice: string) => ({ streamId: STREAM, choice, closeInterval: CLOSE_INTERVAL });
const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));
const MARS = bytesOf(answerOf('Mars'));

describe('AnswerService', () => {
  let stored: ArrivedAnswer[];
  let decide: () => AnswerDecision;
  let claimed: WinnerClaim[];
  let decideClaim: () => ClaimDecision;
  let service: AnswerService;
  let lookups: number;
  let published: PublishedQuiz;

  beforeEach(async () => {
    lookups = 0;
    published = quizRow;
    stored = [];
    claimed = [];
    decide = () => 'accepted';
    decideClaim = () => 'won';
    service = new AnswerService({
      store: {
        findPublishedQuizzes: async (ids) => {
          lookups++;
          return ids.map((id) => (id === QUIZ ? published : null));
        },
        recordAnswers: async (answers) => {
          stored.push(...answers);
          return answers.map(() => decide());
        },
        recordWinners: async (claims) => {
          claimed.push(...claims);
          return claims.map(() => decideClaim());
        },
      },
      clock: { nowMs: () => NOW_MS },
      rate: new RateLimiter('answers', new SeatWindows({ points: LIMIT_POINTS, durationS: 10 })),
    });
    // The first answer to a quiz caches it.
    await service.answer(viewerOf(0), QUIZ, answerOf('Mars'), NOW_MS);
    stored = [];
    service.decisions.accepted = 0;
  });

  afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

  /** The outcome of an answer or a claim: null if accepted, the error if refused, undefined if not taken. */
  function outcomeOf(
    attempt: (callbacks: { accept(): void; refuse(error: unknown): void }) => boolean,
  ): Promise<unknown> {
    return new Promise((resolve) => {
      if (!attempt({ accept: () => resolve(null), refuse: resolve })) resolve(undefined);
    });
  }
  const tryAnswer = (body: Buffer, viewer = viewerOf(1), quiz = QUIZ) => {
    const bytes = Buffer.concat([Buffer.from(`/${quiz}/`), body, Buffer.from('POST')]);
    const offsets = { idAt: 1, bodyAt: quiz.length + 2, end: bytes.length - 'POST'.length };
    return outcomeOf((callbacks) => service.tryAnswer(viewer, bytes, offsets, NOW_MS, callbacks));
  };

  test('[R-15] an answer whose quiz is looked up waits for both calls as long as for one', async () => {
    const scheduler = new Scheduler(0);
    const startTimer = (run: () => void, delayMs: number) => scheduler.after(delayMs, run);
    const nowMs = () => scheduler.nowMs;
    replaceRuntime(
      createVirtualRuntime({ random: () => 0, systemMs: nowMs, monotonicMs: nowMs, startTimer }),
    );
    const slow = new AnswerService({
      store: {
        findPublishedQuizzes: () =>
          new Promise((resolve) => {
            scheduler.after(600, () => resolve([quizRow]));
          }),
        recordAnswers: () => new Promise(() => {}),
        recordWinners: async () => [],
      },
      clock: { nowMs: () => NOW_MS },
      rate: new RateLimiter('answers', new SeatWindows({ points: LIMIT_POINTS, durationS: 10 })),
    });
    let error: unknown = null;
    slow.answer(viewerOf(1), QUIZ, answerOf('Mars'), NOW_MS).catch((thrown) => {
      error = thrown;
    });
    scheduler.advance(790);
    expect(error).toBeNull();
    scheduler.advance(20);
    expect(error).toBeInstanceOf(Unavailable);
  });

  test('answers to unknown quizzes share their lookups', async () => {
    lookups = 0;
    const attempts = Array.from({ length: 500 }, (_, seat) =>
      service.answer(viewerOf(seat), crypto.randomUUID(), answerOf('Mars'), NOW_MS),
    );
    const results = await Promise.allSettled(attempts);
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(attempts.length);
    expect(lookups).toBeLessThanOrEqual(2);
  });

  test('[Q-12] a quiz that was published again, because its first publication was lost, takes answers', async () => {
    const again = { ...answerOf('Mars'), closeInterval: CLOSE_INTERVAL + 80 };
    published = { ...quizRow, number: 8, closeInterval: again.closeInterval };
    await service.answer(viewerOf(1), QUIZ, again, NOW_MS);
    expect(await tryAnswer(bytesOf(again), viewerOf(2))).toBeNull();
    expect(stored.map(({ quiz }) => quiz)).toEqual([8, 8]);
    const earlier = service.answer(viewerOf(3), QUIZ, answerOf('Mars'), NOW_MS);
    expect(await earlier.catch(({ kind }) => kind)).toBe('invalid');
  });

  test('[Q-7] tryAnswer stores a valid answer, however it is serialized', async () => {
    const spaced = Buffer.from(JSON.stringify(answerOf('Süd & "Nord"'), null, 2));
    const upper = bytesOf({ ...answerOf('Mars'), streamId: STREAM.toUpperCase(), more: 1 });
    expect(await tryAnswer(MARS)).toBeNull();
    expect(await tryAnswer(spaced, viewerOf(2))).toBeNull();
    expect(await tryAnswer(upper, viewerOf(3))).toBeNull();
    expect(await tryAnswer(MARS, viewerOf(4))).toBeNull();
    const common = { quiz: 7, receivedMs: NOW_MS };
    expect(stored).toMatchObject([
      { ...common, seat: 1, choice: 0 },
      { ...common, seat: 2, choice: 1 },
      { ...common, seat: 3, choice: 0 },
      { ...common, seat: 4, choice: 0 },
    ]);
    expect(service.decisions).toEqual({ accepted: 4, duplicate: 0, conflict: 0, closed: 0 });
  });

  test('[Q-15] tryAnswer returns false for an invalid answer and does not count it for the rate limit', async () => {
    const other = '11111111-2222-4333-8444-555555555555';
    const invalid = [
      '',
      '{}',
      '[]',
      'null',
      MARS.toString().replace('}', ',"choice":"Mars"}'),
      MARS.toString().replace('"Mars"', '"Mars\\ud800"'),
      MARS.toString().replace('Mars', 'mars'),
      MARS.toString().replace(`${CLOSE_INTERVAL}`, `${CLOSE_INTERVAL + 1}`),
      MARS.toString().replace(`${CLOSE_INTERVAL}`, `"${CLOSE_INTERVAL}"`),
      MARS.toString().replace(STREAM, other),
      MARS.toString().padEnd(2_000),
    ];
    for (const body of invalid) expect(await tryAnswer(Buffer.from(body))).toBeUndefined();
    expect(await tryAnswer(Buffer.concat([MARS, Buffer.from([0xff])]))).toBeUndefined();
    expect(await tryAnswer(MARS, viewerOf(1, other))).toBeUndefined();
    expect(await tryAnswer(MARS, viewerOf(1), other)).toBeUndefined();
    expect(stored).toEqual([]);
    for (let n = 0; n < LIMIT_POINTS; n++) expect(await tryAnswer(MARS)).toBeNull();
  });

  test('[L-6] tryAnswer and tryClaim return false for a viewer who has reached the rate limit', async () => {
    expect(await tryAnswer(MARS)).toBeNull();
    service.take(viewerOf(1));
    const claim = () => outcomeOf((callbacks) => service.tryClaim(viewerOf(1), callbacks));
    expect(await claim()).toBeNull();
    expect(await tryAnswer(MARS)).toBeUndefined();
    expect(await claim()).toBeUndefined();
    expect(() => service.take(viewerOf(1))).toThrow(RateLimited);
    expect(await tryAnswer(MARS, viewerOf(2))).toBeNull();
  });

  test('[Q-13] [Q-14] [Q-12] a duplicate is accepted, a conflicting and a late answer are refused', async () => {
    const inTurn = ['duplicate', 'conflict', 'closed'] as const;
    decide = () => inTurn[stored.length - 1] as AnswerDecision;
    expect(await tryAnswer(MARS)).toBeNull();
    const [conflict, closed] = [await tryAnswer(MARS), await tryAnswer(MARS)];
    expect(conflict).toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('first one'),
    });
    expect(closed).toMatchObject({ kind: 'conflict', message: 'The quiz is closed.' });
    expect(service.decisions).toEqual({ accepted: 0, duplicate: 1, conflict: 1, closed: 1 });
  });

  test('[W-8] [W-9] a claim is unauthorized if the viewer did not win, and a conflict without a round', async () => {
    const claim = () => outcomeOf((callbacks) => service.tryClaim(viewerOf(1), callbacks));
    expect(await claim()).toBeNull();
    decideClaim = () => ({ refusedBy: 7 });
    expect(await claim()).toMatchObject({ kind: 'unauthorized' });
    decideClaim = () => 'no-round';
    expect(await claim()).toMatchObject({ kind: 'conflict' });
  });

  test('[W-7] a claim that waits behind the refusal of its seat names the round', async () => {
    const { promise: inFlight, resolve } = Promise.withResolvers<void>();
    const calls: (readonly WinnerClaim[])[] = [];
    const slow = new AnswerService({
      store: {
        findPublishedQuizzes: async () => [],
        recordAnswers: async () => [],
        recordWinners: async (claims) => {
          calls.push(claims);
          if (calls.length > 1) await inFlight;
          return claims.map(() => ({ refusedBy: 7 }));
        },
      },
      clock: { nowMs: () => NOW_MS },
      rate: new RateLimiter('answers', new SeatWindows({ points: LIMIT_POINTS, durationS: 10 })),
    });
    const early = slow.claim(viewerOf(1));
    await new Promise((resolveNext) => setImmediate(resolveNext));
    const late = slow.claim(viewerOf(1));
    await Promise.allSettled([early]);
    resolve();
    await Promise.allSettled([late]);
    expect(calls.flat().map(({ refusedBy }) => refusedBy)).toEqual([undefined, 7]);
  });

  test('[W-7] a claim that did not fit into a transaction is in the next one, and names the round that refused it', async () => {
    const claim = () => outcomeOf((callbacks) => service.tryClaim(viewerOf(1), callbacks));
    const decisions: ClaimDecision[] = ['later', 'later', { refusedBy: 7 }, 'won'];
    decideClaim = () => decisions.shift() as ClaimDecision;
    expect(await claim()).toMatchObject({ kind: 'unauthorized' });
    expect(await claim()).toBeNull();
    expect(claimed.map(({ refusedBy }) => refusedBy)).toEqual([undefined, undefined, undefined, 7]);
  });

  test('[R-15] an answer is refused with the error of the database', async () => {
    decide = () => {
      throw new Unavailable('The database is busy.');
    };
    expect(await tryAnswer(MARS)).toBeInstanceOf(Unavailable);
  });

  test('tryAnswer parses more serializations of an answer than it caches', async () => {
    for (let spaces = 0; spaces < 200; spaces++) {
      const body = Buffer.from(MARS.toString().padEnd(MARS.length + spaces));
      expect(await tryAnswer(body, viewerOf(spaces))).toBeNull();
    }
    expect(stored).toHaveLength(200);
  });
});
