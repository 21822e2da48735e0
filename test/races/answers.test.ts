import { afterAll, beforeAll, expect, test } from 'bun:test';
import { intervalStartMs } from '../../protocol/interval.ts';
import type { Store } from '../../server/app/procedures.ts';
import type { AnswerDecision, ArrivedAnswer } from '../../server/domains/quizzes/quiz-rules.ts';
import { winnerContactProcedures } from '../../server/domains/quizzes/winner-contacts-sql.ts';
import { winnersProcedures } from '../../server/domains/quizzes/winners-sql.ts';
import { explainingTx, type PlanNode, sumOfPlan } from '../support/database/query-plans.ts';
import {
  errorKindsIn,
  FIRST_INTERVAL,
  NOW_MS,
  PRODUCER,
  RaceFixture,
} from '../support/database/race-fixture.ts';

// Concurrent answers, closes and claims on several nodes with one PostgreSQL.

const ROUNDS = 20;
const SEATS = 40;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

// Each test uses intervals of its own, since sealing covers all streams.
let usedInterval = FIRST_INTERVAL;
function nextTestTimeMs(): number {
  usedInterval += 100;
  return NOW_MS + (usedInterval - FIRST_INTERVAL) * 250;
}

const isAcknowledged = (decision: AnswerDecision) =>
  decision === 'accepted' || decision === 'duplicate';

async function countsOf(id: string): Promise<readonly number[]> {
  const { counts } = await fixture.store.findOwnQuiz({ id, producer: PRODUCER });
  return counts ?? [];
}

async function roundOf(own: { streamId: string; producer: string }) {
  const [round] = await fixture.store.listWinnersRounds(own);
  if (!round) throw new Error('the stream has no round');
  return round;
}

/** Stores the answers in concurrent batches. */
async function answerInBatches(
  node: Store,
  answers: readonly ArrivedAnswer[],
  size: number,
): Promise<(readonly [ArrivedAnswer, AnswerDecision])[]> {
  const batches = Array.from({ length: Math.ceil(answers.length / size) }, (_, n) =>
    answers.slice(n * size, (n + 1) * size),
  );
  const decisions = await Promise.all(batches.map((batch) => node.recordAnswers(batch)));
  return answers.map((answer, n) => [answer, decisions.flat()[n] as AnswerDecision] as const);
}

test('[I-3] [N-18] a seat that answers on three nodes concurrently has one answer, the acknowledged one', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const interval = Math.floor(nowMs / 250);
    const streamId = await fixture.newStream();
    const quizzes = [
      await fixture.newQuiz(streamId, nowMs),
      await fixture.newQuiz(streamId, nowMs),
    ];
    const outcomes = await Promise.all(
      fixture.nodes.map((node) => {
        const answers = quizzes.flatMap(({ number, created }) =>
          Array.from({ length: SEATS }, (_, seat) => {
            const choice = Math.floor(fixture.random() * 3);
            return { quiz: number, created, seat, choice, receivedMs: nowMs };
          }),
        );
        return answerInBatches(node, fixture.shuffled(answers), 30);
      }),
    );
    await fixture.sealTo(interval + 10);
    for (const { id, number } of quizzes) {
      const acknowledged = new Map<number, Set<number>>();
      for (const [{ quiz, seat, choice }, decision] of outcomes.flat()) {
        if (quiz !== number || !isAcknowledged(decision)) continue;
        acknowledged.set(seat, (acknowledged.get(seat) ?? new Set()).add(choice));
      }
      expect(acknowledged.size).toBe(SEATS);
      const choices = [...acknowledged.values()].flatMap((choicesOfSeat) => [...choicesOfSeat]);
      expect(choices).toHaveLength(SEATS);
      const expected = [0, 1, 2].map(
        (choice) => choices.filter((chosen) => chosen === choice).length,
      );
      expect(await countsOf(id)).toEqual(expected);
    }
  }
}, 60_000);

test('[I-3] [Q-16] [Q-17] of answers that race a close, exactly the acknowledged ones are counted', async () => {
  let refused = 0;
  let accepted = 0;
  for (let round = 0; round < 2 * ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const quiz = await fixture.newQuiz(await fixture.newStream(), nowMs);
    const receivedMs = intervalStartMs(quiz.closeInterval - 1);
    const answering = fixture.nodes.map(async (node, index) => {
      const answers = Array.from({ length: SEATS }, (_, n) => {
        const seat = index * SEATS + n;
        const { number, created } = quiz;
        return { quiz: number, created, seat, choice: seat % 3, receivedMs };
      });
      const outcomes: (readonly [ArrivedAnswer, AnswerDecision])[] = [];
      while (answers.length > 0) {
        await Bun.sleep(fixture.random() * 6);
        outcomes.push(...(await answerInBatches(node, answers.splice(0, 8), 4)));
      }
      return outcomes;
    });
    const closing = (async () => {
      await Bun.sleep(fixture.random() * 20);
      for (let to = quiz.closeInterval; (await countsOf(quiz.id)).length === 0; to++) {
        await fixture.sealTo(to, fixture.nodes[round % 3]);
      }
    })();
    const outcomes = (await Promise.all(answering)).flat();
    await closing;
    const acknowledged = outcomes.filter(([, decision]) => isAcknowledged(decision));
    const expected = [0, 1, 2].map(
      (choice) => acknowledged.filter(([answer]) => answer.choice === choice).length,
    );
    expect(await countsOf(quiz.id)).toEqual(expected);
    accepted += acknowledged.length;
    refused += outcomes.length - acknowledged.length;
  }
  // Answers and closes did race: some answers came before, and some after.
  expect(accepted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 60_000);

test('[Q-12] [N-19] late answers do not delay the close', async () => {
  const nowMs = nextTestTimeMs();
  const quiz = await fixture.newQuiz(await fixture.newStream(), nowMs);
  const receivedMs = intervalStartMs(quiz.closeInterval);
  const late = { quiz: quiz.number, created: quiz.created, choice: 0, receivedMs };
  let isClosed = false;
  const latecomers = fixture.nodes.flatMap((node, index) =>
    [0, 1].map(async (half) => {
      while (!isClosed) {
        const decisions = await node.recordAnswers([{ ...late, seat: index * 2 + half }]);
        expect(decisions).toEqual(['closed']);
      }
    }),
  );
  await fixture.sealTo(quiz.closeInterval);
  isClosed = true;
  await Promise.all(latecomers);
  expect(await countsOf(quiz.id)).toEqual([0, 0, 0]);
});

test('[I-4] [Q-6] [N-18] a quiz that is published on three nodes concurrently is published once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const streamId = await fixture.newStream();
    const own = await fixture.newDraft(streamId);
    const outcomes = await fixture.onAll((node, index) =>
      node.publishQuiz({ ...own, nowMs: nowMs + index }),
    );
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
    await fixture.sealTo(Math.floor(nowMs / 250));
    expect((await fixture.readSealedEvents(streamId)).map(({ type }) => type)).toEqual(['quiz']);
  }
}, 30_000);

test('[I-4] [P-20] a quiz that is revealed on three nodes concurrently publishes its results once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const streamId = await fixture.newStream();
    const own = await fixture.newDraft(streamId, { reveal: 'manual' as 'auto' });
    await fixture.store.publishQuiz({ ...own, nowMs });
    await fixture.sealTo(Math.floor(nowMs / 250) + 5);
    const outcomes = await fixture.onAll((node) => node.revealQuiz(own));
    expect(outcomes).toMatchObject([
      { state: 'revealed' },
      { state: 'revealed' },
      { state: 'revealed' },
    ]);
    await fixture.sealTo(Math.floor(nowMs / 250) + 6);
    const types = (await fixture.readSealedEvents(streamId)).map(({ type }) => type);
    expect(types).toEqual(['quiz', 'quiz-results']);
  }
}, 30_000);

test('[I-4] [W-3] a winners round that is requested on three nodes concurrently begins once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const streamId = await fixture.newStream();
    const outcomes = await fixture.onAll((node) =>
      node.requestWinners({ id: crypto.randomUUID(), streamId, producer: PRODUCER, nowMs }),
    );
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
    await fixture.sealTo(Math.floor(nowMs / 250));
    const types = (await fixture.readSealedEvents(streamId)).map(({ type }) => type);
    expect(types).toEqual(['request-quiz-winners']);
  }
}, 30_000);

test('[I-4] [W-5] of claims that race the end of their round, exactly the acknowledged ones are counted', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = nextTestTimeMs();
    const interval = Math.floor(nowMs / 250);
    const streamId = await fixture.newStream();
    const own = { id: crypto.randomUUID(), streamId, producer: PRODUCER };
    await fixture.store.requestWinners({ ...own, nowMs });
    await fixture.sealTo(interval);
    // A game without quizzes qualifies everyone (W-7); each seat claims on two nodes.
    const claiming = fixture.nodes.map(async (node, index) => {
      const seats = Array.from({ length: SEATS }, (_, n) => (index * SEATS) / 2 + n);
      await Bun.sleep(fixture.random() * 4);
      return Promise.all(
        fixture.shuffled(seats).map(async (seat) => {
          const [decision] = await node.recordWinners([{ streamId, seat, receivedMs: nowMs }]);
          return { seat, decision };
        }),
      );
    });
    await Bun.sleep(fixture.random() * 8);
    // The round stays open while claims are being stored.
    for (let to = interval + 4; (await roundOf(own)).state === 'open'; to++) {
      await fixture.sealTo(to);
    }
    const outcomes = (await Promise.all(claiming)).flat();
    const won = new Set(
      outcomes.filter(({ decision }) => decision === 'won').map(({ seat }) => seat),
    );
    expect((await roundOf(own)).count).toBe(won.size);
  }
}, 60_000);

test('[W-14] [N-19] contact details that are sent while all are erased on another node do not stay', async () => {
  const nowMs = nextTestTimeMs();
  const interval = Math.floor(nowMs / 250);
  const streamId = await fixture.newStream();
  const own = { streamId, producer: PRODUCER };
  const roundId = crypto.randomUUID();
  const [seat, viewer] = [0, 'viewer 0'];
  await fixture.store.takeSeats([{ streamId, viewer, seat }]);
  await fixture.store.requestWinners({ ...own, id: roundId, nowMs });
  await fixture.sealTo(interval);
  await fixture.store.recordWinners([{ streamId, seat, receivedMs: nowMs }]);
  for (let to = interval + 4; (await roundOf(own)).state === 'open'; to++) await fixture.sealTo(to);
  await fixture.store.requestContacts({ ...own, roundId, note: 'Where may we send your prize?' });
  const sending = await fixture.openSession();
  await sending.run('begin');
  const details = { name: 'A winner', contact: 'winner@example.org', nowMs };
  await winnerContactProcedures.saveOwnContact.run(sending, {
    streamId,
    seat,
    roundId,
    ...details,
  });
  const erasing = fixture.store.eraseContacts({ ...own, roundId });
  await Promise.race([erasing, Bun.sleep(100)]);
  await sending.run('commit');
  await erasing;
  expect(await fixture.store.listContacts({ ...own, roundId })).toEqual([]);
});

test('[W-14] [L-19] a step of the erasure of a round deletes 5,000 contact details, and none of other rounds', async () => {
  const streamId = await fixture.newStream();
  const own = { streamId, producer: PRODUCER };
  const client = await fixture.openClient();
  await client.query(
    `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested, count)
     select 'erased ' || n, 3000000 + n, $1, n, 0, 'closed', 0, 0 from generate_series(1, 2) n`,
    [streamId],
  );
  await client.query(
    `insert into winner_contacts (round, seat, name, contact, created)
     select 3000000 + r, s, 'a', 'b', 0 from generate_series(1, 2) r, generate_series(1, 10001) s`,
  );
  const counts = async () => {
    const { rows } = await client.query<{ left: number }>(
      `select count(*)::int as left from winner_contacts where round > 3000000
       group by round order by round`,
    );
    return rows.map((row) => row.left);
  };
  const remaining: number[][] = [];
  for (let isMore = true; isMore; remaining.push(await counts())) {
    isMore = await fixture.store.eraseContacts({ ...own, roundId: 'erased 1' });
  }
  expect(remaining).toEqual([[5_001, 10_001], [1, 10_001], [10_001]]);
  await client.query('delete from winner_contacts where round > 3000000');
});

test('[W-14] a viewer that won nothing searches the winners of 100 rounds at most, and erases without the contact details of other streams', async () => {
  const [ROUNDS_ASKING, SEAT, OTHER_ROUNDS] = [2_000, 7, 2_000];
  const streamId = await fixture.newStream();
  const others = await fixture.newStream();
  const client = await fixture.openClient();
  const addRounds = (id: string, first: number, count: number) =>
    client.query(
      `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested, count, contact_note)
       select 'asking ' || n, n, $1, n, 0, 'closed', 0, 0, 'note'
       from generate_series($2::int, $2::int + ($3::int - 1) * 2, 2) n`,
      [id, first, count],
    );
  await addRounds(streamId, 2_000_000, ROUNDS_ASKING);
  await addRounds(others, 2_000_001, OTHER_ROUNDS);
  await client.query(
    `insert into winners (round, seat, received)
     select n, s, 0 from generate_series(2000001, 2004000) n, generate_series(20, 60) s`,
  );
  await client.query(
    `insert into winner_contacts (round, seat, name, contact, created)
     select number, s, 'a', 'b', 0 from winners_rounds, generate_series(1, 10) s where stream_id = $1`,
    [others],
  );
  const session = await fixture.openSession();
  const searches: Record<'winners' | 'winner_contacts', number>[] = [];
  const tx = explainingTx(session, (plan) => {
    const searchesOf = (table: string) =>
      sumOfPlan(plan, (node) => (node['Relation Name'] === table ? node['Actual Loops'] : 0));
    searches.push({
      winners: searchesOf('winners'),
      winner_contacts: searchesOf('winner_contacts'),
    });
  });
  await session.run('begin');
  const own = { streamId, seat: SEAT };
  expect(await winnerContactProcedures.readOwnContact.run(tx, own)).toEqual({
    request: null,
    hasDetails: false,
  });
  expect(searches).toEqual([
    { winners: 100, winner_contacts: 0 },
    { winners: 0, winner_contacts: 100 },
  ]);
  await winnerContactProcedures.eraseOwnContact.run(tx, own);
  await session.run('rollback');
  const { rows } = await client.query('select count(*) as n from winner_contacts where seat = $1', [
    SEAT,
  ]);
  expect(Number(rows[0].n)).toBe(OTHER_ROUNDS);
});

test('[W-7] a claim reads answers up to the first quiz that fails, and none when the seat has won', async () => {
  const QUIZZES = 40;
  const streamId = await fixture.newStream();
  const round = { id: crypto.randomUUID(), streamId, producer: PRODUCER };
  await fixture.store.requestWinners({ ...round, nowMs: NOW_MS });
  const client = await fixture.openClient();
  await client.query(
    `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal, game)
     select 'claimed ' || n, 1000000 + n, $1, 'revealed', '?', '["a","b"]', 0, 1000, 'auto', 0
     from generate_series(1, $2::int) n`,
    [streamId, QUIZZES],
  );
  await client.query('update winners_rounds set quizzes = $2 where id = $1', [round.id, QUIZZES]);
  const [right, silent, winner] = [1, 2, 3];
  await client.query(
    `insert into answers (quiz, seat, choice, received)
     select 1000000 + n, $1::int, 0, 0 from generate_series(1, $2::int) n`,
    [right, QUIZZES],
  );
  await client.query(
    `insert into winners (round, seat, received) select number, $1::int, 0 from winners_rounds where id = $2`,
    [winner, round.id],
  );
  const session = await fixture.openSession();
  const reads: number[] = [];
  const tx = explainingTx(session, (plan) => {
    const isOfAnswers = (node: PlanNode) => node['Relation Name'] === 'answers';
    reads.push(sumOfPlan(plan, (node) => (isOfAnswers(node) ? node['Actual Loops'] : 0)));
  });
  const decide = async (seat: number) => {
    reads.length = 0;
    await session.run('begin');
    const claim = { streamId, seat, receivedMs: NOW_MS };
    const [decision] = await winnersProcedures.recordWinners.run(tx, [claim]);
    await session.run('rollback');
    return { decision, reads: Math.max(...reads) };
  };
  expect(await decide(right)).toEqual({ decision: 'won', reads: QUIZZES });
  expect(await decide(silent)).toEqual({ decision: { refusedBy: expect.any(Number) }, reads: 1 });
  expect(await decide(winner)).toEqual({ decision: 'won', reads: 0 });
});
