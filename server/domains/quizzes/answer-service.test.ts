import { beforeEach, describe, expect, test } from 'bun:test';
import { Problem } from '../../http/problem.ts';
import { Unavailable } from '../../platform/errors.ts';
import { AnswerService } from './answer-service.ts';
import type { AnswerDecision, ArrivedAnswer } from './arrived-answer.ts';
import { SeatRate } from './seat-rate.ts';
import type { ClaimDecision } from './winners-sql.ts';

const STREAM = '0f8fad5b-d9cb-469f-a165-70867728950e';
const QUIZ = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const NOW_MS = 1_760_000_000_000;
const CLOSE_INTERVAL = 7_040_000_100;
const SHARE = 3;

const asked = {
  id: QUIZ,
  number: 7,
  position: 0,
  streamId: STREAM,
  state: 'open',
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

describe('the desk for answers', () => {
  let recorded: ArrivedAnswer[];
  let told: AnswerDecision[];
  let decide: () => AnswerDecision;
  let decideClaim: () => ClaimDecision;
  let desk: AnswerService;

  beforeEach(async () => {
    recorded = [];
    told = [];
    decide = () => 'record';
    decideClaim = () => 'won';
    desk = new AnswerService({
      store: {
        findPublishedQuiz: async ({ id }) => (id === QUIZ ? asked : null),
        recordAnswers: async (answers) => {
          recorded.push(...answers);
          return answers.map(() => decide());
        },
        recordWinners: async (claims) => claims.map(() => decideClaim()),
      },
      clock: { nowMs: () => NOW_MS },
      rate: new SeatRate('answers', { points: SHARE, durationS: 10 }),
      onDecided: (decision) => told.push(decision),
    });
    // The first of a quiz makes it known.
    await desk.answer(viewerOf(0), QUIZ, answerOf('Mars'), NOW_MS);
    recorded = [];
    told = [];
  });

  /** What becomes of an answer or a claim: null for yes, or why not; undefined when nothing was done. */
  function outcomeOf(
    put: (outcome: { accept(): void; refuse(error: unknown): void }) => boolean,
  ): Promise<unknown> {
    return new Promise((resolve) => {
      if (!put({ accept: () => resolve(null), refuse: resolve })) resolve(undefined);
    });
  }
  const atOnce = (body: Buffer, viewer = viewerOf(1), quiz = QUIZ) => {
    const bytes = Buffer.concat([Buffer.from(`/${quiz}/`), body, Buffer.from('POST')]);
    const places = { idAt: 1, bodyAt: quiz.length + 2, end: bytes.length - 'POST'.length };
    return outcomeOf((outcome) => desk.answerAtOnce(viewer, bytes, places, NOW_MS, outcome));
  };

  test('[Q-7] what is right is recorded at once, whatever bytes say it', async () => {
    const spaced = Buffer.from(JSON.stringify(answerOf('Süd & "Nord"'), null, 2));
    const upper = bytesOf({ ...answerOf('Mars'), streamId: STREAM.toUpperCase(), more: 1 });
    expect(await atOnce(MARS)).toBeNull();
    expect(await atOnce(spaced, viewerOf(2))).toBeNull();
    expect(await atOnce(upper, viewerOf(3))).toBeNull();
    expect(await atOnce(MARS, viewerOf(4))).toBeNull();
    const common = { quiz: 7, receivedMs: NOW_MS, interval: NOW_MS / 250 };
    expect(recorded).toMatchObject([
      { ...common, seat: 1, choice: 0 },
      { ...common, seat: 2, choice: 1 },
      { ...common, seat: 3, choice: 0 },
      { ...common, seat: 4, choice: 0 },
    ]);
    expect(told).toEqual(['record', 'record', 'record', 'record']);
  });

  test('[Q-15] what is wrong is not touched, and takes nothing of the share of its viewer', async () => {
    const other = '11111111-2222-4333-8444-555555555555';
    const wrong = [
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
    for (const body of wrong) expect(await atOnce(Buffer.from(body))).toBeUndefined();
    expect(await atOnce(Buffer.concat([MARS, Buffer.from([0xff])]))).toBeUndefined();
    expect(await atOnce(MARS, viewerOf(1, other))).toBeUndefined();
    expect(await atOnce(MARS, viewerOf(1), other)).toBeUndefined();
    expect(recorded).toEqual([]);
    for (let n = 0; n < SHARE; n++) expect(await atOnce(MARS)).toBeNull();
  });

  test('[L-6] who has used up their share is not let in, with answers or reports', async () => {
    expect(await atOnce(MARS)).toBeNull();
    desk.take(viewerOf(1));
    const claim = () => outcomeOf((outcome) => desk.claimAtOnce(viewerOf(1), outcome));
    expect(await claim()).toBeNull();
    expect(await atOnce(MARS)).toBeUndefined();
    expect(await claim()).toBeUndefined();
    expect(() => desk.take(viewerOf(1))).toThrow(Problem);
    expect(await atOnce(MARS, viewerOf(2))).toBeNull();
  });

  test('[Q-13] [Q-14] [Q-12] the same again is a yes, another answer and one too late are 409', async () => {
    const decisions = ['same', 'other', 'closed'] as const;
    decide = () => decisions[recorded.length - 1] as AnswerDecision;
    expect(await atOnce(MARS)).toBeNull();
    const [other, closed] = [await atOnce(MARS), await atOnce(MARS)];
    expect(other).toMatchObject({ status: 409, message: expect.stringContaining('first one') });
    expect(closed).toMatchObject({ status: 409, message: 'The quiz is closed.' });
    expect(told).toEqual(['same', 'other', 'closed']);
  });

  test('[W-8] [W-9] who did not win is 401, and without a round it is 409', async () => {
    const claim = () => outcomeOf((outcome) => desk.claimAtOnce(viewerOf(1), outcome));
    expect(await claim()).toBeNull();
    decideClaim = () => 'not-qualified';
    expect(await claim()).toMatchObject({ status: 401 });
    decideClaim = () => 'no-round';
    expect(await claim()).toMatchObject({ status: 409 });
  });

  test('[R-15] when the database cannot take it, who waits is told so', async () => {
    decide = () => {
      throw new Unavailable('The database is busy.');
    };
    expect(await atOnce(MARS)).toBeInstanceOf(Unavailable);
  });

  test('more ways to write an answer than are kept are all understood', async () => {
    for (let spaces = 0; spaces < 200; spaces++) {
      const body = Buffer.from(MARS.toString().padEnd(MARS.length + spaces));
      expect(await atOnce(body, viewerOf(spaces))).toBeNull();
    }
    expect(recorded).toHaveLength(200);
  });
});
