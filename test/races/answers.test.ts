import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Store } from '../../server/app/procedures.ts';
import type { AnswerDecision, ArrivedAnswer } from '../../server/domains/quizzes/quiz-rules.ts';
import {
  FIRST_INTERVAL,
  type Fixture,
  NOW_MS,
  newDraft,
  newQuiz,
  newStream,
  onAll,
  openFixture,
  PRODUCER,
  refusedKinds,
  sealTo,
  shuffled,
  toldOf,
} from '../support/database/race-fixture.ts';

// Viewers and producers of a quiz who meet in PostgreSQL from several nodes at once.

const ROUNDS = 20;
const SEATS = 40;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
}, 30_000);
afterAll(() => fixture.close());

// Each test has intervals of its own, since they are sealed for all streams.
let passed = FIRST_INTERVAL;
function laterMs(): number {
  passed += 100;
  return NOW_MS + (passed - FIRST_INTERVAL) * 250;
}

const isYes = (decision: AnswerDecision) => decision === 'accepted' || decision === 'duplicate';

async function countsOf(id: string): Promise<readonly number[]> {
  const { counts } = await fixture.any.findOwnQuiz({ id, producer: PRODUCER });
  return counts ?? [];
}

async function roundOf(own: { streamId: string; producer: string }) {
  const [round] = await fixture.any.listWinnersRounds(own);
  if (!round) throw new Error('the stream has no round');
  return round;
}

/** The answers in batches, as turns of an event loop make them. */
async function answerInBatches(
  node: Store,
  answers: readonly ArrivedAnswer[],
  size: number,
): Promise<(readonly [ArrivedAnswer, AnswerDecision])[]> {
  const batches = Array.from({ length: Math.ceil(answers.length / size) }, (_, n) =>
    answers.slice(n * size, (n + 1) * size),
  );
  const decided = await Promise.all(batches.map((batch) => node.recordAnswers(batch)));
  return answers.map((answer, n) => [answer, decided.flat()[n] as AnswerDecision] as const);
}

test('[I-3] [N-18] a seat that answers on three nodes at once has one answer: the one that was acknowledged', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = laterMs();
    const interval = Math.floor(nowMs / 250);
    const streamId = await newStream(fixture);
    const quizzes = [
      await newQuiz(fixture, streamId, nowMs),
      await newQuiz(fixture, streamId, nowMs),
    ];
    const told = await Promise.all(
      fixture.nodes.map((node) => {
        const answers = quizzes.flatMap(({ number }) =>
          Array.from({ length: SEATS }, (_, seat) => {
            const choice = Math.floor(fixture.random() * 3);
            return { quiz: number, seat, choice, receivedMs: nowMs, interval };
          }),
        );
        return answerInBatches(node, shuffled(answers, fixture.random), 30);
      }),
    );
    await sealTo(fixture.any, interval + 10);
    for (const { id, number } of quizzes) {
      const acknowledged = new Map<number, Set<number>>();
      for (const [{ quiz, seat, choice }, decision] of told.flat()) {
        if (quiz !== number || !isYes(decision)) continue;
        acknowledged.set(seat, (acknowledged.get(seat) ?? new Set()).add(choice));
      }
      expect(acknowledged.size).toBe(SEATS);
      const choices = [...acknowledged.values()].flatMap((yes) => [...yes]);
      expect(choices).toHaveLength(SEATS);
      const expected = [0, 1, 2].map((choice) => choices.filter((one) => one === choice).length);
      expect(await countsOf(id)).toEqual(expected);
    }
  }
}, 60_000);

test('[I-3] [Q-16] [Q-17] of the answers that race a close, those that were acknowledged are counted', async () => {
  let refused = 0;
  let recorded = 0;
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const nowMs = laterMs();
    const quiz = await newQuiz(fixture, await newStream(fixture), nowMs);
    const interval = quiz.closeInterval - 1;
    const answering = fixture.nodes.map(async (node, index) => {
      const answers = Array.from({ length: SEATS }, (_, n) => {
        const seat = index * SEATS + n;
        return { quiz: quiz.number, seat, choice: seat % 3, receivedMs: nowMs, interval };
      });
      const told: (readonly [ArrivedAnswer, AnswerDecision])[] = [];
      while (answers.length > 0) {
        await Bun.sleep(fixture.random() * 6);
        told.push(...(await answerInBatches(node, answers.splice(0, 8), 4)));
      }
      return told;
    });
    const closing = (async () => {
      await Bun.sleep(fixture.random() * 20);
      for (let to = quiz.closeInterval; (await countsOf(quiz.id)).length === 0; to++) {
        await sealTo(fixture.nodes[round % 3] as Store, to);
      }
    })();
    const told = (await Promise.all(answering)).flat();
    await closing;
    const yes = told.filter(([, decision]) => isYes(decision));
    const expected = [0, 1, 2].map(
      (choice) => yes.filter(([answer]) => answer.choice === choice).length,
    );
    expect(await countsOf(quiz.id)).toEqual(expected);
    recorded += yes.length;
    refused += told.length - yes.length;
  }
  // Both sides won some of the races, or they were none.
  expect(recorded).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 60_000);

test('[Q-12] [N-19] an answer that comes too late does not hold up the close', async () => {
  const nowMs = laterMs();
  const quiz = await newQuiz(fixture, await newStream(fixture), nowMs);
  const late = { quiz: quiz.number, choice: 0, receivedMs: nowMs, interval: quiz.closeInterval };
  let isClosed = false;
  const latecomers = fixture.nodes.flatMap((node, index) =>
    [0, 1].map(async (half) => {
      while (!isClosed) {
        const decisions = await node.recordAnswers([{ ...late, seat: index * 2 + half }]);
        expect(decisions).toEqual(['closed']);
      }
    }),
  );
  await sealTo(fixture.any, quiz.closeInterval);
  isClosed = true;
  await Promise.all(latecomers);
  expect(await countsOf(quiz.id)).toEqual([0, 0, 0]);
});

test('[I-4] [Q-6] [N-18] a quiz that is published on three nodes at once is published once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = laterMs();
    const streamId = await newStream(fixture);
    const own = await newDraft(fixture, streamId);
    const told = await onAll(fixture, (node, index) =>
      node.publishQuiz({ ...own, nowMs: nowMs + index }),
    );
    const refusals = refusedKinds(told);
    expect(refusals).toEqual(['conflict', 'conflict']);
    await sealTo(fixture.any, Math.floor(nowMs / 250));
    expect((await toldOf(fixture, streamId)).map(({ type }) => type)).toEqual(['quiz']);
  }
}, 30_000);

test('[I-4] [P-20] a quiz that is revealed on three nodes at once has its results once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = laterMs();
    const streamId = await newStream(fixture);
    const own = await newDraft(fixture, streamId, { reveal: 'manual' as 'auto' });
    await fixture.any.publishQuiz({ ...own, nowMs });
    await sealTo(fixture.any, Math.floor(nowMs / 250) + 5);
    const told = await onAll(fixture, (node) => node.revealQuiz(own));
    expect(told).toMatchObject([
      { state: 'revealed' },
      { state: 'revealed' },
      { state: 'revealed' },
    ]);
    await sealTo(fixture.any, Math.floor(nowMs / 250) + 6);
    const types = (await toldOf(fixture, streamId)).map(({ type }) => type);
    expect(types).toEqual(['quiz', 'quiz-results']);
  }
}, 30_000);

test('[I-4] [W-3] winners that are asked for on three nodes at once are asked for once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = laterMs();
    const streamId = await newStream(fixture);
    const told = await onAll(fixture, (node) =>
      node.requestWinners({ id: crypto.randomUUID(), streamId, producer: PRODUCER, nowMs }),
    );
    const refusals = refusedKinds(told);
    expect(refusals).toEqual(['conflict', 'conflict']);
    await sealTo(fixture.any, Math.floor(nowMs / 250));
    const types = (await toldOf(fixture, streamId)).map(({ type }) => type);
    expect(types).toEqual(['request-quiz-winners']);
  }
}, 30_000);

test('[I-4] [W-5] of the winners who race the end of their round, those that were acknowledged are counted', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = laterMs();
    const interval = Math.floor(nowMs / 250);
    const streamId = await newStream(fixture);
    const own = { id: crypto.randomUUID(), streamId, producer: PRODUCER };
    await fixture.any.requestWinners({ ...own, nowMs });
    await sealTo(fixture.any, interval);
    // A game without quizzes qualifies everyone (W-7); each seat says so on two nodes.
    const claiming = fixture.nodes.map(async (node, index) => {
      const seats = Array.from({ length: SEATS }, (_, n) => (index * SEATS) / 2 + n);
      await Bun.sleep(fixture.random() * 4);
      return Promise.all(
        shuffled(seats, fixture.random).map(async (seat) => {
          const [decision] = await node.recordWinners([{ streamId, seat, receivedMs: nowMs }]);
          return { seat, decision };
        }),
      );
    });
    await Bun.sleep(fixture.random() * 8);
    // While claims are being recorded it stays open.
    for (let to = interval + 4; (await roundOf(own)).state === 'open'; to++) {
      await sealTo(fixture.any, to);
    }
    const told = (await Promise.all(claiming)).flat();
    const won = new Set(told.filter(({ decision }) => decision === 'won').map(({ seat }) => seat));
    expect((await roundOf(own)).count).toBe(won.size);
  }
}, 60_000);
