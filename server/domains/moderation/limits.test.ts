import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { MODERATED_MAX } from '../../../protocol/limits.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { moderationProcedures } from './moderation-sql.ts';
import { questionProcedures } from './questions-sql.ts';
import { restrictionProcedures } from './restrictions-sql.ts';

const own = { streamId: 's', producer: 'a' };
const sqlite = await sqliteOfFile();
await insertStream(sqlite, 's');

/** Fills a table to one row below its limit; `statement` makes a row for each number of parameter 1. */
async function fillWith(statement: string): Promise<void> {
  const numbers = Array.from({ length: MODERATED_MAX - 1 }, (_, n) => [n]);
  await sqlite.query(`${statement} from ${sqlite.rows('$1', ['n integer'])} numbers`, [
    JSON.stringify(numbers),
  ]);
}

const errorKindOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error) => error.kind,
  );

test('[C-16] a stream has at most 10,000 hidden messages', async () => {
  await fillWith(`insert into hidden_lines (stream_id, line, number) select 's', 'x' || n, n + 1`);
  const hide = (ids: string[]) => moderationProcedures.hideMessages.run(sqlite, { ...own, ids });
  const [last, beyond] = [randomUUID(), randomUUID()];
  expect(await errorKindOf(hide([last, beyond]))).toBe('conflict');
  expect(await errorKindOf(hide([last, 'x1']))).toBeNull();
  expect(await errorKindOf(hide([last, 'x1']))).toBeNull();
  expect(await errorKindOf(hide([beyond]))).toBe('conflict');
});

test('[C-20] a stream has at most 10,000 restrictions that have not expired', async () => {
  await fillWith(
    `insert into restricted_viewers (stream_id, viewer, kind, seat, name, until, at)
     select 's', 'x' || n, 'muted', n, '', case n when 7 then 1000 end, 0`,
  );
  for (const seat of [1, 2, 3]) {
    const row = ['s', `viewer ${seat}`, 20_000 + seat];
    await sqlite.query('insert into seats (stream_id, viewer, seat) values ($1, $2, $3)', row);
  }
  const restrict = (viewer: string, nowMs: number) =>
    restrictionProcedures.restrictViewer.run(sqlite, {
      ...{ ...own, viewer, kind: 'banned', name: '', until: null, by: null, nowMs },
    });
  expect(await errorKindOf(restrict('viewer 1', 0))).toBeNull();
  expect(await errorKindOf(restrict('viewer 1', 0))).toBeNull();
  expect(await errorKindOf(restrict('viewer 2', 999))).toBe('conflict');
  expect(await errorKindOf(restrict('viewer 2', 1_000))).toBeNull();
  expect(await errorKindOf(restrict('viewer 3', 1_000))).toBe('conflict');
  const lifted = { ...own, viewer: 'viewer 1', kind: 'banned' as const };
  await restrictionProcedures.liftRestriction.run(sqlite, lifted);
  expect(await errorKindOf(restrict('viewer 3', 1_000))).toBeNull();
});

test('[C-20] a restriction counts the others in indexes', async () => {
  const seat = ['s', 'viewer 9', 20_009];
  await sqlite.query('insert into seats (stream_id, viewer, seat) values ($1, $2, $3)', seat);
  const plans: string[] = [];
  const tx: Tx = {
    ...{ rows: sqlite.rows, locks: sqlite.locks, timeline: sqlite.timeline },
    insertNew: sqlite.insertNew,
    monotonicMs: sqlite.monotonicMs,
    async query(text, params) {
      const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
      plans.push(...plan.map(({ detail }) => detail));
      return sqlite.query(text, params);
    },
  };
  const input = {
    ...own,
    viewer: 'viewer 9',
    kind: 'muted' as const,
    name: '',
    until: null,
    by: null,
  };
  // The stream has its maximum by now.
  await restrictionProcedures.restrictViewer.run(tx, { ...input, nowMs: 2_000 }).catch(() => {});
  const reads = plans.filter((line) => line.includes('restricted_viewers'));
  expect(reads.length).toBeGreaterThan(3);
  for (const line of reads)
    expect(line).toMatch(/restricted_viewers_by_end|\(stream_id=\? AND viewer=\? AND kind=\?\)/);
});

test('[C-20] a stream has at most 10,000 queued questions, whose states can still change', async () => {
  await fillWith(
    `insert into queued_questions (stream_id, id, state, line, written, at)
     select 's', 'x' || n, 'open', '{}', 0, 0`,
  );
  const message = { viewer: 'v', name: '', text: 'Why?', kind: 'question' as const, at: 0 };
  const queue = (id: string, state: 'open' | 'answered') =>
    questionProcedures.queueQuestion.run(sqlite, {
      ...{ ...own, id, message: { id, ...message }, state, by: null, nowMs: 0 },
    });
  expect(await errorKindOf(queue('q1', 'open'))).toBeNull();
  expect(await errorKindOf(queue('q2', 'open'))).toBe('conflict');
  expect(await errorKindOf(queue('q1', 'answered'))).toBeNull();
});
