import { expect, test } from 'bun:test';
import { newRehearsalSchema } from '../../../protocol/rehearsal.ts';
import { explainingTx, rowsRead, withSession } from '../../../test/support/database/query-plans.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { rundownOf, rundownStoreOf } from '../../../test/support/quizzes/rundown.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { rundownProcedures } from '../rundown/rundown-sql.ts';
import { rehearsalProcedures } from './rehearsals-sql.ts';
import { removalProcedures } from './removal-sql.ts';

const sqlite = await sqliteOfFile();
const SHOW = { showId: 'show', producer: 'a', nowMs: 0 };
const quiz = { choices: ['a', 'b'], answer: 'a', duration: 10_000, reveal: 'auto' as const };

const questionsOf = async (streamId: string) => {
  const own = { streamId, producer: SHOW.producer };
  const { quizzes } = await rundownOf(rundownStoreOf(sqlite), own);
  return quizzes.map(({ question }) => question);
};

const count = async () => {
  const [row] = await sqlite.query<{ n: number }>(
    `select count(*) as n from quizzes where stream_id = 'hidden'`,
  );
  return Number(row?.n);
};

/** Creates the show with quizzes, and the hidden stream of its rehearsal without. */
async function createRehearsal(quizzes: number): Promise<void> {
  await insertStream(sqlite, SHOW.showId, 100);
  const drafts = Array.from({ length: quizzes }, (_, n) => ({
    id: `draft ${n}`,
    quiz: { ...quiz, question: `Number ${n}?` },
  }));
  const settings = newRehearsalSchema.parse({ viewers: 1 });
  await inTransaction(sqlite, async () => {
    const own = { streamId: SHOW.showId, producer: SHOW.producer };
    await rundownProcedures.importQuizzes.run(sqlite, { ...own, drafts });
    const input = { ...SHOW, id: 'hidden', node: 'here', settings };
    await rehearsalProcedures.createRehearsal.run(sqlite, input);
  });
}

test('[Y-1] [Y-10] a rehearsal copies drafts in batches, skips deleted ones, and is removed 200 quizzes at a time', async () => {
  await createRehearsal(450);
  expect(await questionsOf('hidden')).toEqual([]);
  await sqlite.query(`delete from quizzes where id = 'draft 3'`);
  const copy = (from: number, to: number) => {
    const numbers = Array.from({ length: to - from }, (_, n) => from + n);
    const drafts = numbers.map((n) => ({ id: `draft ${n}`, copyId: `copy ${n}` }));
    const input = { id: 'hidden', producer: SHOW.producer, drafts };
    return inTransaction(sqlite, () => rehearsalProcedures.copyDrafts.run(sqlite, input));
  };
  await copy(0, 100);
  expect(await count()).toBe(99);
  await copy(100, 450);
  // A repeat after a lost response.
  await copy(0, 100);
  expect(await questionsOf('hidden')).toEqual(await questionsOf(SHOW.showId));

  await rehearsalProcedures.dismissRehearsal.run(sqlite, SHOW);
  await sqlite.query('delete from outbox');
  const remaining: number[] = [];
  while (await removalProcedures.removeRehearsal.run(sqlite, { nowMs: 1 }))
    remaining.push(await count());
  expect(remaining.slice(0, 3)).toEqual([249, 49, 0]);
  expect(await copy(0, 1).catch((error) => error.kind)).toBe('not-found');
});

// PostgreSQL read all answers of the service to find none of a rehearsal.
test('[Y-10] the removal of a rehearsal reads the answers of its own quizzes only in PostgreSQL', async () => {
  await withSession(async (session) => {
    await session.query(
      `insert into accounts (uuid, email, name, created) values ('a', 'a', 'A', 0)`,
    );
    for (const [number, id] of ['show', 'hidden'].entries())
      await insertStream(session, id, number);
    await session.query(
      `insert into rehearsals (stream_id, show_id, account, node, settings, created, seen, is_current)
       values ('hidden', 'show', 'a', 'n', '{}', 0, 0, 0)`,
    );
    await session.query(
      `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal, game)
       select 'q' || n, n, case when n <= 20 then 'show' else 'hidden' end, 'revealed', '?', '[]', 0, 1000,
         'auto', 0 from generate_series(1, 80) n`,
    );
    await session.query(
      `insert into answers (quiz, seat, choice, received)
       select q, seat, 0, 0 from generate_series(1, 20) q, generate_series(1, 1000) seat
       union all select 50, seat, 0, 0 from generate_series(1, 6000) seat`,
    );
    await session.run('vacuum analyze');
    const reads: number[] = [];
    const tx = explainingTx(session, (plan) => reads.push(rowsRead(plan, 'answers')));
    const answers = async () => {
      const [row] = await session.query<{ n: number }>('select count(*) as n from answers');
      return Number(row?.n);
    };
    for (let isLeft = true; isLeft; ) {
      await session.run('begin');
      isLeft = await removalProcedures.removeRehearsal.run(tx, { nowMs: 1 });
      await session.run('commit');
    }
    // Those that a batch finds, and those that it deletes.
    expect(Math.max(...reads)).toBeLessThan(10_100);
    expect(await answers()).toBe(20_000);
  });
}, 30_000);

test('[Y-10] a rehearsal whose producer keeps events waiting delays the removal of no other', async () => {
  const settings = newRehearsalSchema.parse({ viewers: 1 });
  for (const [number, id] of ['busy', 'quiet'].entries()) {
    const show = { showId: `show of ${id}`, producer: SHOW.producer, nowMs: number };
    await insertStream(sqlite, show.showId, 200 + number);
    await inTransaction(sqlite, async () => {
      const input = { ...show, id, node: 'here', settings };
      await rehearsalProcedures.createRehearsal.run(sqlite, input);
      await rehearsalProcedures.dismissRehearsal.run(sqlite, show);
    });
  }
  const remaining = async () => {
    while (await removalProcedures.removeRehearsal.run(sqlite, { nowMs: 2 })) {
      // Until nothing more can be removed now.
    }
    const rows = await sqlite.query<{ id: string }>(
      `select id from streams where id in ('busy', 'quiet')`,
    );
    return rows.map(({ id }) => id);
  };
  await recordEvent(sqlite, 'busy', 'custom', {});
  expect(await remaining()).toEqual(['busy']);
  await sqlite.query('delete from outbox');
  expect(await remaining()).toEqual([]);
});
