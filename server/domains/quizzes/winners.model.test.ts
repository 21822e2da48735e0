import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { rounds } from '../../../test/support/full-run.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  sealShow,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { DomainError } from '../../platform/errors.ts';
import type { ClaimDecision } from './winners-sql.ts';

// Runs games, rounds and claims of two streams in random order, on the real database and on the plain
// model below. After each step both must be in the same state.

const STREAMS = [uuidOf(1), uuidOf(2)];
const TIME_LIMIT_MS = rounds(5_000, 30_000);
const CHOICES = ['yes', 'no'];

interface PlainQuiz {
  readonly id: string;
  readonly closeInterval: number;
  readonly isManual: boolean;
  state: 'open' | 'closed' | 'revealed';
  readonly right: Set<number>;
  readonly wrong: Set<number>;
}

interface PlainRound {
  readonly id: string;
  readonly game: readonly PlainQuiz[];
  readonly winners: Set<number>;
  readonly requested: number;
  /** The interval that publishes the count; null until the request is sealed. */
  dueInterval: number | null;
  count: number | null;
}

interface PlainStream {
  game: PlainQuiz[];
  readonly published: PlainQuiz[];
  readonly rounds: PlainRound[];
  /** Types and counts of the events of the next sealing. */
  pending: string[];
  isEnded: boolean;
}

interface Model {
  nowMs: number;
  watermark: number;
  readonly streams: PlainStream[];
}

interface Real {
  readonly show: Show;
  nextId: number;
}

const openRoundOf = (stream: PlainStream) => stream.rounds.find(({ count }) => count === null);
const streamOf = (model: Model, stream: number) => model.streams[stream] as PlainStream;
const idOf = (stream: number) => STREAMS[stream] as string;

type Command = fc.AsyncCommand<Model, Real>;

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
  for (const [index, stream] of model.streams.entries()) {
    const streamId = idOf(index);
    const rounds = await show.store.listWinnersRounds({ streamId, producer: PRODUCER });
    expect(rounds).toEqual(
      stream.rounds.map(({ id, game, requested, count }) => ({
        id,
        streamId,
        state: count === null ? 'open' : 'closed',
        quizzes: game.length,
        requested,
        count,
        contactNote: null,
        contacts: 0,
      })),
    );
  }
}

const publishQuiz = (stream: number, isManual: boolean) =>
  command(
    `publish a quiz in ${stream}${isManual ? ', reveal by hand' : ''}`,
    async (model, { show }) => {
      const plain = streamOf(model, stream);
      if (plain.isEnded) return;
      const own = { id: uuidOf(1_000 + plain.published.length * 2 + stream), producer: PRODUCER };
      await show.store.createQuiz({
        ...own,
        streamId: idOf(stream),
        quiz: {
          question: 'Is it?',
          choices: CHOICES,
          answer: 'yes',
          duration: 1_000,
          reveal: isManual ? 'manual' : 'auto',
        },
      });
      await show.store.publishQuiz({ ...own, nowMs: model.nowMs });
      const closeInterval = Math.ceil((model.nowMs + 1_000) / 250);
      const quiz: PlainQuiz = {
        id: own.id,
        closeInterval,
        isManual,
        state: 'open',
        right: new Set(),
        wrong: new Set(),
      };
      plain.game.push(quiz);
      plain.published.push(quiz);
      plain.pending.push('quiz');
    },
  );

/** For each quiz of the game, seats below `right` answer correctly and the rest of `seats` wrongly. */
const answer = (stream: number, seats: number, right: number) =>
  command(`${right} of ${seats} answer correctly in ${stream}`, async (model, { show }) => {
    const interval = intervalAt(model.nowMs);
    for (const quiz of streamOf(model, stream).game) {
      if (quiz.state !== 'open' || interval >= quiz.closeInterval) continue;
      const [publishedQuiz = null] = await show.store.findPublishedQuizzes([quiz.id]);
      const batch = [];
      for (let seat = 0; seat < seats; seat++) {
        const choice = seat < right ? 0 : 1;
        if (!quiz.right.has(seat) && !quiz.wrong.has(seat)) {
          (choice === 0 ? quiz.right : quiz.wrong).add(seat);
        }
        batch.push({
          quiz: publishedQuiz?.number ?? -1,
          created: publishedQuiz?.created ?? 0,
          seat,
          choice,
          receivedMs: model.nowMs,
        });
      }
      await show.store.recordAnswers(batch);
    }
  });

const revealAll = (stream: number) =>
  command(`reveal in ${stream}`, async (model, { show }) => {
    const plain = streamOf(model, stream);
    for (const quiz of plain.game.filter(({ state }) => state === 'closed')) {
      await show.store.revealQuiz({ id: quiz.id, producer: PRODUCER });
      quiz.state = 'revealed';
      plain.pending.push('quiz-results');
    }
  });

const requestWinners = (stream: number) =>
  command(`request winners in ${stream}`, async (model, real) => {
    const plain = streamOf(model, stream);
    const id = uuidOf(real.nextId++);
    const isRefused =
      plain.isEnded ||
      openRoundOf(plain) !== undefined ||
      plain.game.some(({ state }) => state !== 'revealed');
    const input = { id, streamId: idOf(stream), producer: PRODUCER, nowMs: model.nowMs };
    const call = real.show.store.requestWinners(input);
    if (isRefused) {
      const refused = await call.catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(DomainError);
      expect((refused as DomainError).kind).toBe('conflict');
      return;
    }
    await call;
    plain.rounds.push({
      id,
      game: plain.game,
      winners: new Set(),
      requested: model.nowMs,
      dueInterval: null,
      count: null,
    });
    plain.game = [];
    plain.pending.push('request-quiz-winners');
  });

/** Whether the last round counted a seat and ended at most 10 s ago. */
function wasCounted(round: PlainRound | undefined, seat: number, nowMs: number): boolean {
  const endInterval = round?.dueInterval ?? Number.NEGATIVE_INFINITY;
  return round?.winners.has(seat) === true && intervalAt(nowMs) <= endInterval + 40;
}

/** One batch of claims, of one or both streams; a seat may be in it twice. */
const claim = (claims: readonly (readonly [stream: number, seat: number])[]) =>
  command(`claim ${JSON.stringify(claims)}`, async (model, { show }) => {
    const expected = claims.map(([stream, seat]): ClaimDecision => {
      const { rounds } = streamOf(model, stream);
      const round = openRoundOf(streamOf(model, stream));
      if (!round) return wasCounted(rounds.at(-1), seat, model.nowMs) ? 'won' : 'no-round';
      if (!round.game.every(({ right }) => right.has(seat)))
        return { refusedBy: expect.any(Number) };
      round.winners.add(seat);
      return 'won';
    });
    const batch = claims.map(([stream, seat]) => ({
      streamId: idOf(stream),
      seat,
      receivedMs: model.nowMs,
    }));
    expect(await show.store.recordWinners(batch)).toEqual(expected);
  });

/** Advances by whole intervals and seals only the last that ended, as a delayed service does. */
const seal = (intervals: number) =>
  command(`seal after ${intervals}`, async (model, { show }) => {
    model.nowMs = intervalStartMs(intervalAt(model.nowMs) + intervals);
    const interval = intervalAt(model.nowMs) - 1;
    const skipped = model.watermark < 0 ? 0 : interval - model.watermark - 1;
    if (skipped >= 2) prolongRounds(model, interval);
    const bodies = await sealShow(show, {
      after: model.watermark,
      interval,
      nowMs: model.nowMs,
      transients: [],
    });
    model.watermark = interval;
    for (const plain of model.streams) {
      for (const quiz of plain.published) {
        if (quiz.state !== 'open' || quiz.closeInterval > interval) continue;
        quiz.state = quiz.isManual ? 'closed' : 'revealed';
        if (!quiz.isManual) plain.pending.push('quiz-results');
      }
      const round = openRoundOf(plain);
      if (round?.dueInterval != null && round.dueInterval <= interval) {
        round.count = round.winners.size;
        plain.pending.push(`quiz-winners ${round.count}`);
      } else if (round)
        round.dueInterval ??= interval + (skipped >= 2 ? 16 + Math.min(skipped, 24) : 4);
    }
    const bodiesByStream = Map.groupBy(bodies, ({ streamId }) => streamId);
    for (const [index, plain] of model.streams.entries()) {
      const events = (bodiesByStream.get(idOf(index)) ?? []).flatMap(
        ({ body }) => JSON.parse(body).events,
      );
      expect(events.map(summaryOf)).toEqual(plain.pending);
      plain.pending = [];
    }
  });

/** W-5: rounds that were open in skipped intervals. */
function prolongRounds({ streams, watermark, nowMs }: Model, interval: number): void {
  for (const plain of streams) {
    const round = openRoundOf(plain);
    if (round?.dueInterval == null || round.requested <= nowMs - 10_000) continue;
    if (round.dueInterval > watermark && round.dueInterval < interval + 16)
      round.dueInterval = interval + 16;
  }
}

function summaryOf({ type, data }: { type: string; data: { count: number } | null }): string {
  if (type === 'request-quiz-winners') expect(data).toBeNull();
  return type === 'quiz-winners' ? `${type} ${data?.count}` : type;
}

/** Plays a whole quiz, so that games of several quizzes, and rounds over them, are common. */
const play = (stream: number, right: number) => {
  const steps = [
    publishQuiz(stream, right === 0),
    answer(stream, 5, right),
    seal(6),
    revealAll(stream),
  ];
  return command(`play: ${steps.map(String).join(', ')}`, async (model, real) => {
    for (const step of steps) await step.run(model, real);
  });
};

const endStream = (stream: number) =>
  command(`end ${stream}`, async (model, { show }) => {
    const input = { id: idOf(stream), producer: PRODUCER, atMs: null, nowMs: model.nowMs };
    await show.store.endStream(input);
    streamOf(model, stream).isEnded = true;
  });

const restart = command('restart', (_, { show }) => show.restart());

const stream = fc.constantFrom(0, 0, 1);
const seat = fc.nat(4);
const steps = fc.commands(
  [
    fc.tuple(stream, fc.boolean()).map((args) => publishQuiz(...args)),
    fc.tuple(stream, fc.nat(5), fc.nat(5)).map((args) => answer(...args)),
    fc.tuple(stream, fc.nat(5), fc.nat(5)).map((args) => answer(...args)),
    fc.tuple(stream, fc.nat(5)).map((args) => play(...args)),
    fc.tuple(stream, fc.nat(5)).map((args) => play(...args)),
    stream.map(revealAll),
    stream.map(requestWinners),
    stream.map(requestWinners),
    fc.array(fc.tuple(stream, seat), { minLength: 1, maxLength: 6 }).map(claim),
    fc.array(fc.tuple(stream, seat), { minLength: 1, maxLength: 6 }).map(claim),
    fc.integer({ min: 1, max: 6 }).map(seal),
    fc.constant(seal(1)),
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(restart) },
      { weight: 1, arbitrary: stream.map(endStream) },
    ),
  ],
  { maxCommands: 70, size: 'max' },
);

test(
  '[W-1 – W-12] any sequence of games, rounds and claims has the results of a plain model (I-4)',
  async () => {
    const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
    console.log(`winners model: MODEL_SEED=${seed}`);
    let runs = 0;
    let won = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const show = await openShow(STREAMS);
        const model: Model = {
          nowMs: SHOW_START_MS,
          watermark: -1,
          streams: STREAMS.map(() => ({
            game: [],
            published: [],
            rounds: [],
            pending: [],
            isEnded: false,
          })),
        };
        try {
          await fc.asyncModelRun(() => ({ model, real: { show, nextId: 1 } }), commands);
          runs += 1;
          for (const { rounds } of model.streams) {
            won += rounds.filter(({ count, game }) => count && game.length > 1).length;
          }
        } finally {
          await show.close();
        }
      }),
      { seed, numRuns: rounds(150, 300), interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`winners model: ${runs} sequences, ${won} games of several quizzes with winners`);
    expect(won).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);
