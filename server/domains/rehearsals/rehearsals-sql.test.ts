import { expect, test } from 'bun:test';
import { newRehearsalSchema } from '../../../protocol/rehearsal.ts';
import { explainingTx, rowsRead, withSession } from '../../../test/support/database/query-plans.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { rundownOf, rundownStoreOf } from '../../../test/support/quizzes/rundown.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { rundownProcedures } from '../rundown/rundown-sql.ts';
import { rehearsalProcedures } from './rehearsals-sql.ts';
import { removalProcedures } from './removal-sql.ts';

const sqlite = await sqliteOfFile();
const SHOW = { showId: 'show', producer: 'a', nowMs: 0 };
const quiz = { choices: ['a', 'b'], answer: 'a', duration: 10_000, reveal: 'auto' as const };

const ACCOUNT = `insert into accounts (uuid, email, name, created) values ('a', 'a', 'A', 0)`;
/** An interval that is longer than a batch. */
const LONGEST_BYTES = 5_000_000;

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

/** Inserts a dismissed rehearsal of the account `a`, without its show. */
async function insertRehearsal(tx: Tx, id: string): Promise<void> {
  await insertStream(tx, id, 300);
  await tx.query(
    `insert into rehearsals (stream_id, show_id, account, node, settings, created, seen, is_current)
     values ($1, 'show', 'a', 'n', '{}', 0, 0, 0)`,
    [id],
  );
}

async function insertLongTexts(tx: Tx, id: string): Promise<void> {
  const interval = 'insert into sealed_intervals (stream_id, interval, body) values ($1, $2, $3)';
  for (let n = 0; n < 200; n++) await tx.query(interval, [id, n, 'ä'.repeat(25_000)]);
  await tx.query(interval, [id, 200, 'x'.repeat(LONGEST_BYTES)]);
  for (let n = 0; n < 3_000; n++) {
    await tx.query(
      `insert into queued_questions (stream_id, id, state, line, written, at)
       values ($1, $2, 'open', $3, 0, 0)`,
      [id, `question ${n}`, 'x'.repeat(2_000)],
    );
  }
}

/** Removes a rehearsal with long texts. @returns their bytes that each batch removed */
async function removeLongTexts(tx: Tx): Promise<number[]> {
  await insertRehearsal(tx, 'long');
  await insertLongTexts(tx, 'long');
  const count = async () => {
    const [row] = await tx.query<{ bytes: number }>(
      `select coalesce(sum(bytes), 0) as bytes from (
         select octet_length(body) as bytes from sealed_intervals
         union all select octet_length(line) from queued_questions) texts`,
    );
    return Number(row?.bytes);
  };
  const batches: number[] = [];
  let before = await count();
  while (await removalProcedures.removeRehearsal.run(tx, { nowMs: 1 })) {
    const after = await count();
    batches.push(before - after);
    before = after;
  }
  expect(before).toBe(0);
  return batches;
}

// All intervals of a rehearsal with 2,000 long quizzes had 90 MB, and took 0.4 s.
test.each(['SQLite', 'PostgreSQL'])(
  '[Y-10] the removal of a rehearsal takes 4 MB of long texts at a time in %s',
  async (database) => {
    const check = async (tx: Tx) => {
      const batches = await removeLongTexts(tx);
      expect(batches).toContain(LONGEST_BYTES);
      const others = batches.filter((bytes) => bytes !== LONGEST_BYTES);
      expect(Math.max(...others)).toBeWithin(4_000_000, 4 * 1024 * 1024 + 1);
    };
    if (database === 'SQLite') return check(sqlite);
    await withSession(async (session) => {
      await session.query(ACCOUNT);
      await session.run('begin');
      await check(session);
      await session.run('commit');
    });
  },
  30_000,
);

test('[Y-10] the removal of a rehearsal resets 200 open quizzes at a time', async () => {
  await insertRehearsal(sqlite, 'open');
  for (let n = 0; n < 450; n++) {
    await sqlite.query(
      `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal)
       values ($1, $2, 'open', 'open', '?', '[]', 0, 1000, 'auto')`,
      [`open ${n}`, 10_000 + n],
    );
  }
  const remaining: number[] = [];
  while (await removalProcedures.removeRehearsal.run(sqlite, { nowMs: 1 })) {
    const [row] = await sqlite.query<{ n: number }>(
      `select count(*) as n from quizzes where state = 'open'`,
    );
    remaining.push(Number(row?.n));
  }
  expect(remaining.slice(0, 3)).toEqual([250, 50, 0]);
});

// PostgreSQL read all answers of the service to find none of a rehearsal.
test('[Y-10] the removal of a rehearsal reads the answers of its own quizzes only in PostgreSQL', async () => {
  await withSession(async (session) => {
    await session.query(ACCOUNT);
    await insertStream(session, 'show');
    await insertRehearsal(session, 'hidden');
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
