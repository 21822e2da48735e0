import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalAt } from '../../../protocol/interval.ts';
import type { Reveal } from '../../../protocol/quizzes.ts';
import { rounds } from '../../../test/support/full-run.ts';
import {
  type PlainEvent,
  type PlainQuiz,
  plainAnswer,
  plainClose,
  plainDraft,
  plainPublish,
  plainReveal,
} from '../../../test/support/quizzes/quizzes-model.ts';
import { rundownOf } from '../../../test/support/quizzes/rundown.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  sealShow,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { DomainError } from '../../platform/errors.ts';
import type { AnswerDecision } from './quiz-rules.ts';

// Runs random sequences of actions of a producer, viewers and the clock on the quizzes of one stream, on
// the real database and on a plain model. After each step both must be in the same state.

const STREAM = uuidOf(0);
const TIME_LIMIT_MS = rounds(5_000, 30_000);

interface Model {
  nowMs: number;
  watermark: number;
  allowanceMs: number;
  isEnded: boolean;
  quizzes: PlainQuiz[];
  /** Events of the next sealing. */
  pending: PlainEvent[];
}

interface Real {
  readonly show: Show;
  nextId: number;
}

type Command = fc.AsyncCommand<Model, Real>;
type Result = 'ok' | DomainError['kind'];

async function resultOf(call: Promise<unknown>): Promise<Result> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof DomainError) return error.kind;
    throw error;
  }
}

/** A step after which the database is compared with the model. */
function command(text: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return {
    check: () => true,
    toString: () => text,
    run: async (model, real) => {
      await run(model, real);
      await compare(model, real);
    },
  };
}

async function compare(model: Model, { show }: Real): Promise<void> {
  const { quizzes } = await rundownOf(show.store, { streamId: STREAM, producer: PRODUCER });
  const actual = quizzes.map((row) => ({
    id: row.id,
    state: row.state,
    question: row.question,
    choices: row.choices,
    answer: row.choices[row.answer],
    duration: row.durationMs,
    reveal: row.reveal,
    created: row.created,
    closeInterval: row.closeInterval,
    counts: row.counts,
  }));
  expect(actual as unknown[]).toEqual(
    model.quizzes.map(({ answers: _, streamId: __, ...quiz }) => quiz),
  );
}

/** One of the quizzes; undefined if there are none. */
const pick = (model: Model, index: number): PlainQuiz | undefined =>
  model.quizzes[index % Math.max(1, model.quizzes.length)];

interface Fields {
  readonly choices: string[];
  readonly answer: number;
  readonly duration: number;
  readonly reveal: Reveal;
}

const create = (fields: Fields) =>
  command(`create ${JSON.stringify(fields)}`, async (model, real) => {
    const number = real.nextId++;
    const quiz = {
      question: `Question ${number}?`,
      choices: fields.choices,
      answer: fields.choices[fields.answer % fields.choices.length] as string,
      duration: fields.duration,
      reveal: fields.reveal,
    };
    const id = uuidOf(number);
    await real.show.store.createQuiz({ id, producer: PRODUCER, streamId: STREAM, quiz });
    model.quizzes.push(plainDraft({ id, streamId: STREAM, ...quiz }));
  });

const patch = (index: number, fields: Fields, withAnswer: boolean) =>
  command(`patch #${index} ${JSON.stringify(fields)} ${withAnswer}`, async (model, real) => {
    const quiz = pick(model, index);
    if (!quiz) return;
    const { choices, duration, reveal } = fields;
    const answer = choices[fields.answer % choices.length] as string;
    const changed = { choices, duration, reveal, ...(withAnswer ? { answer } : {}) };
    const input = { id: quiz.id, producer: PRODUCER, patch: changed };
    const isPossible = withAnswer || choices.includes(quiz.answer);
    const draftResult: Result = isPossible ? 'ok' : 'invalid';
    const expected: Result = quiz.state === 'draft' ? draftResult : 'conflict';
    expect(await resultOf(real.show.store.patchQuiz(input))).toBe(expected);
    if (expected === 'ok') Object.assign(quiz, changed);
  });

const remove = (index: number) =>
  command(`delete #${index}`, async (model, real) => {
    const quiz = pick(model, index);
    if (!quiz) return;
    const expected: Result = quiz.state === 'draft' ? 'ok' : 'conflict';
    const input = { id: quiz.id, producer: PRODUCER };
    expect(await resultOf(real.show.store.deleteQuiz(input))).toBe(expected);
    if (expected === 'ok') model.quizzes = model.quizzes.filter((other) => other !== quiz);
  });

const publish = (index: number) =>
  command(`publish #${index}`, async (model, real) => {
    const quiz = pick(model, index);
    if (!quiz) return;
    const expected: Result = quiz.state === 'draft' && !model.isEnded ? 'ok' : 'conflict';
    const input = { id: quiz.id, producer: PRODUCER, nowMs: model.nowMs };
    expect(await resultOf(real.show.store.publishQuiz(input))).toBe(expected);
    if (expected !== 'ok') return;
    model.pending.push(plainPublish(quiz, model.nowMs, model.allowanceMs));
  });

const reveal = (index: number) =>
  command(`reveal #${index}`, async (model, real) => {
    const quiz = pick(model, index);
    if (!quiz) return;
    const isRevealable = quiz.state === 'closed' || quiz.state === 'revealed';
    const input = { id: quiz.id, producer: PRODUCER };
    expect(await resultOf(real.show.store.revealQuiz(input))).toBe(
      isRevealable ? 'ok' : 'conflict',
    );
    if (quiz.state === 'closed') model.pending.push(plainReveal(quiz));
  });

interface Attempt {
  readonly index: number;
  readonly seat: number;
  readonly choice: number;
  /** Ms since it arrived; answers may wait for the database. */
  readonly waitedMs: number;
}

/** One batch of concurrent answers; a seat may be in it twice. */
const answer = (attempts: readonly Attempt[]) =>
  command(`answer ${JSON.stringify(attempts)}`, async (model, real) => {
    const batch = [];
    const expected: AnswerDecision[] = [];
    for (const { index, seat, choice, waitedMs } of attempts) {
      const quiz = pick(model, index);
      if (!quiz) continue;
      const [publishedRow = null] = await real.show.store.findPublishedQuizzes([quiz.id]);
      expect(publishedRow === null).toBe(quiz.state === 'draft');
      if (!publishedRow) continue;
      const given = choice % quiz.choices.length;
      const receivedMs = model.nowMs - waitedMs;
      const { number, created } = publishedRow;
      batch.push({ quiz: number, created, seat, choice: given, receivedMs });
      expected.push(plainAnswer(quiz, seat, given, receivedMs));
    }
    expect(await real.show.store.recordAnswers(batch)).toEqual(expected);
  });

const pass = (ms: number) =>
  command(`pass ${ms} ms`, async (model) => {
    model.nowMs += ms;
  });

const seal = command('seal', async (model, real) => {
  const interval = intervalAt(model.nowMs) - 1;
  const sealing = { after: model.watermark, interval, nowMs: model.nowMs, transients: [] };
  if (interval <= model.watermark) {
    const { watermark } = model;
    expect(await real.show.store.sealInterval(sealing)).toEqual({ outcome: 'conflict', watermark });
    return;
  }
  const bodies = await sealShow(real.show, sealing);
  model.watermark = interval;
  const events = [...model.pending, ...plainClose(model.quizzes, interval)];
  model.pending = [];
  expect(bodies.map(({ body }) => JSON.parse(body))).toEqual(
    events.length === 0 ? [] : [{ interval, events }],
  );
});

const endStream = command('end the stream', async (model, real) => {
  const input = { id: STREAM, producer: PRODUCER, atMs: null, nowMs: model.nowMs };
  await real.show.store.endStream(input);
  model.isEnded = true;
});

const restart = command('restart', (_, { show }) => show.restart());

const fields: fc.Arbitrary<Fields> = fc.record({
  choices: fc.shuffledSubarray(['Mars', 'Venus', '1984', '7', 'Été'], { minLength: 2 }),
  answer: fc.nat(4),
  duration: fc.integer({ min: 1_000, max: 2_500 }),
  reveal: fc.constantFrom<Reveal>('auto', 'manual'),
});
const index = fc.nat(3);
const attempt: fc.Arbitrary<Attempt> = fc.record({
  index,
  seat: fc.nat(4),
  choice: fc.nat(4),
  waitedMs: fc.oneof(fc.constant(0), fc.nat(700)),
});

const steps = fc.commands(
  [
    fields.map(create),
    fc.tuple(index, fields, fc.boolean()).map((args) => patch(...args)),
    index.map(remove),
    index.map(publish),
    index.map(publish),
    index.map(reveal),
    fc.array(attempt, { minLength: 1, maxLength: 6 }).map(answer),
    fc.array(attempt, { minLength: 1, maxLength: 6 }).map(answer),
    fc.integer({ min: 1, max: 900 }).map(pass),
    fc.constant(seal),
    fc.constant(seal),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(restart) },
      { weight: 1, arbitrary: fc.constant(endStream) },
    ),
  ],
  { maxCommands: 60, size: 'max' },
);

test(
  '[Q-2] [Q-12 – Q-21] the quizzes are as in a plain model after any sequence of steps (I-3, I-4)',
  async () => {
    const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
    console.log(`quizzes model: MODEL_SEED=${seed}`);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 0, 300), steps, async (allowanceMs, commands) => {
        const show = await openShow([STREAM], allowanceMs);
        const model = { nowMs: SHOW_START_MS, watermark: -1, allowanceMs, isEnded: false };
        try {
          await fc.asyncModelRun(
            () => ({ model: { ...model, quizzes: [], pending: [] }, real: { show, nextId: 1 } }),
            commands,
          );
          runs += 1;
        } finally {
          await show.close();
        }
      }),
      { seed, numRuns: rounds(200, 400), interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`quizzes model: ${runs} sequences`);
    expect(runs).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);
