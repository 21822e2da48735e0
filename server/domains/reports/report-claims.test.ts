import { expect, test } from 'bun:test';
import pino from 'pino';
import { explainingTx, rowsRead, withSession } from '../../../test/support/database/query-plans.ts';
import { sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { describeWebhooks, PRODUCER } from '../../../test/support/webhooks/webhook-fixture.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { ReportMaker } from './report-maker.ts';
import { reportProcedures } from './reports-sql.ts';

describeWebhooks('claims of reports', (open) => {
  test('[J-11] the report of an account waits for one of another, which ended 120 shows before', async () => {
    const fixture = await open();
    const columns = `insert into streams
      (id, number, producer, title, unlisted, latency_allowance_ms, status, created, ended)`;
    await fixture.run(
      `${columns} with recursive shows(n) as (select 1 union all select n + 1 from shows where n < 120)
       select 'of one ' || n, 100 + n, $1, 'A show', 0, 0, 'ENDED', 0, n from shows`,
      [PRODUCER],
    );
    await fixture.run(`insert into accounts values ('b', 'b@example.org', 'B', 0)`);
    await fixture.run(
      `${columns} values ('of the other', 300, 'b', 'A show', 0, 0, 'ENDED', 0, 200)`,
    );
    const made: string[] = [];
    const maker: ReportMaker = new ReportMaker({
      store: {
        ...fixture.store,
        readShow: async ({ streamId }) => {
          if (made.push(streamId) === 4) void maker.stop();
          return fixture.store.readShow({ streamId });
        },
      },
      clock: { nowMs: () => fixture.nowMs },
      logger: pino({ level: 'silent' }),
      newId: () => crypto.randomUUID(),
      pause: async () => {},
    });
    await maker.makeAll();
    expect(made).toEqual(['of one 1', 'of the other', 'of one 2', 'of one 3']);
    await fixture.close();
  });
});

const insertReports = (tx: Tx, rows: readonly (readonly [string, string, number])[]) =>
  tx.query(
    `insert into reports (stream_id, account, due) select id, account, due
     from ${tx.rows('$1', ['id text', 'account text', 'due bigint'])} made`,
    [JSON.stringify(rows)],
  );

const CLAIM = { lease: 'a lease', after: 'a', nowMs: 10_000 };

test('[J-11] a claim steps through the accounts by the index of due reports', async () => {
  const sqlite = await sqliteOfFile();
  await insertReports(sqlite, [
    ['one', 'a', 1],
    ['two', 'a', 2],
    ['leased', 'b', 20_000],
    ['three', 'c', 3],
  ]);
  const lines: string[] = [];
  const query: Tx['query'] = async (text, params) => {
    const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    lines.push(...plan.map(({ detail }) => detail));
    return sqlite.query(text, params);
  };
  const claimed = await reportProcedures.claimReport.run({ ...sqlite, query }, CLAIM);
  expect(claimed).toMatchObject({ streamId: 'three', account: 'c' });
  const reads = lines.filter((line) => /^(SCAN|SEARCH) (r|reports)\b|TEMP B-TREE/.test(line));
  const indexes = new Set(reads.map((line) => /INDEX (\w+) \(/.exec(line)?.[1] ?? line));
  expect([...indexes]).toEqual(['reports_of_account', 'sqlite_autoindex_reports_1']);
});

test('[J-11] a claim reads few reports in PostgreSQL, however many are due', async () => {
  await withSession(async (session) => {
    const readsOfClaim = async (after: string) => {
      let reads = 0;
      const tx = explainingTx(session, (plan) => {
        reads += rowsRead(plan, 'reports');
      });
      await session.run('begin');
      const claimed = await reportProcedures.claimReport.run(tx, { ...CLAIM, after });
      await session.run('rollback');
      expect(claimed?.account).toBe(after === 'a' ? 'b' : 'a');
      return reads;
    };
    // Statistics of an empty table, then of one account, then of both.
    await session.query('analyze reports');
    const dues = Array.from({ length: 10_000 }, (_, n) => [`a ${n}`, 'a', n] as const);
    await insertReports(session, dues);
    expect(await readsOfClaim('')).toBeLessThan(50);
    await session.query('analyze reports');
    await insertReports(session, [['b', 'b', 10_000]]);
    // From the sixth run on, PostgreSQL may plan without the account.
    for (let n = 0; n < 7; n++) expect(await readsOfClaim('a')).toBeLessThan(50);
    await session.query('analyze reports');
    for (const after of ['a', 'b']) expect(await readsOfClaim(after)).toBeLessThan(50);
  });
}, 30_000);
