import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainingTx, rowsRead, withSession } from '../../../test/support/database/query-plans.ts';

import { procedures } from '../../app/procedures.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { openMigratedSqlite } from '../../storage/sql/sqlite.ts';

/** Runs `use` on a new database. @returns the query plan of each statement that it made */
async function plansOf(use: (tx: Tx) => Promise<unknown>): Promise<string[][]> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-webhook-plans-'));
  const sqlite = await openMigratedSqlite(directory);
  try {
    const plans: string[][] = [];
    await use({
      ...sqlite,
      query: async (text, params) => {
        const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
        plans.push(plan.map(({ detail }) => detail));
        return sqlite.query(text, params);
      },
    });
    return plans;
  } finally {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const CLAIM = { lease: 'b', limit: 16, failingLimit: 8, inFlightByAccount: {}, nowMs: 1_000 };
const WEBHOOKS = ['one', 'two', 'three'];

/** Three webhooks, each with two due deliveries, one leased one, and `retries` that wait. */
async function insertBacklog(tx: Tx, retries: number): Promise<void> {
  await tx.query(`insert into accounts (uuid, email, name, created) values ('a', 'a@b', 'A', 0)`);
  const deliveries = [
    ...Array(2).fill([1, null]),
    [2_000, 'a'],
    ...Array(retries).fill([9_000, null]),
  ];
  for (const [number, id] of WEBHOOKS.entries()) {
    await tx.query(
      `insert into webhooks (id, number, account, url, events, enabled, secret, created)
       values ($1, $2, 'a', 'https://hooks.example.org/', '[]', 1, '', 0)`,
      [id, number],
    );
    await tx.query(
      `insert into deliveries (id, webhook, type, body, created, state, due, lease)
       select id, $2, 'test', '{}', 1, 'pending', due, lease
       from ${tx.rows('$1', ['id text', 'due bigint', 'lease text'])} made`,
      [JSON.stringify(deliveries.map((delivery, n) => [`${id} ${n}`, ...delivery])), id],
    );
  }
}

test('[H-4] a webhook finds its subscriptions without those of other accounts', async () => {
  const plans = await plansOf(async (tx) => {
    await insertBacklog(tx, 0);
    await procedures.deleteWebhook.run(tx, { id: 'one', account: 'a' });
  });
  const accesses = plans.flat().filter((line) => line.includes('subscriptions'));
  expect(accesses).toEqual([
    'SEARCH subscriptions USING INDEX subscriptions_of_webhook (webhook=?)',
  ]);
});

// The plans, not the time: with 200,000 pending deliveries a claim blocked all writes, sealing included.
test('[H-21] a claim finds due deliveries by one index entry of each webhook, and counts leases by their index', async () => {
  const plans = await plansOf(async (tx) => {
    await insertBacklog(tx, 0);
    const claimed = await procedures.claimDeliveries.run(tx, CLAIM);
    expect(claimed).toHaveLength(WEBHOOKS.length);
  });
  const searches = plans.flat().filter((line) => /^(SEARCH|SCAN) (d|deliveries)\b/.test(line));
  const indexes = searches.map((line) => /^SEARCH \w+ USING .*INDEX (\w+)/.exec(line)?.[1] ?? line);
  const search = ['deliveries_leased', 'deliveries_waiting', 'deliveries_waiting'];
  const lease = WEBHOOKS.flatMap(() => ['deliveries_leased', 'deliveries_waiting']);
  expect(indexes.slice(0, 6).toSorted()).toEqual([...search, ...search].toSorted());
  expect(indexes.slice(6, 12)).toEqual(lease);
});

// With 10,000 waiting retries of each of 20 webhooks, claims took longer than a call may.
test('[H-16] a claim reads few deliveries of a webhook in PostgreSQL, however many retries wait', async () => {
  await withSession(async (session) => {
    const readsOfClaim = async () => {
      let reads = 0;
      const tx = explainingTx(session, (plan) => {
        reads += rowsRead(plan, 'deliveries');
      });
      await session.run('begin');
      const claimed = await procedures.claimDeliveries.run(tx, CLAIM);
      await session.run('rollback');
      expect(claimed).toHaveLength(WEBHOOKS.length);
      return reads;
    };
    // Statistics of an empty table at first.
    await session.query('analyze deliveries');
    await insertBacklog(session, 2_000);
    expect(await readsOfClaim()).toBeLessThan(50);
    await session.query('analyze deliveries');
    expect(await readsOfClaim()).toBeLessThan(50);
  });
}, 30_000);

/** Logs events of one account, and a newer one of another. */
const logEvents = (tx: Tx, count: number) =>
  tx.query(
    `insert into happenings (at, type, key, stream_id, data, account)
     select n, 'quiz.closed', cast(n as text), 'a', '{}', account
     from ${tx.rows('$1', ['n integer', 'account text'])} made`,
    [JSON.stringify([...Array(count).keys()].map((n) => [n, n + 1 < count ? 'a' : 'b']))],
  );

test('[H-26] a dispatch steps through the log by its index, and reads as many events as it takes', async () => {
  const plans = await plansOf(async (tx) => {
    await logEvents(tx, 200);
    await procedures.dispatchWebhookEvents.run(tx, { after: '' });
    expect(await tx.query('select 1 from happenings')).toHaveLength(200 - 26);
  });
  const lines = plans.slice(1, -1).flat();
  const isSlow = (line: string) =>
    line.startsWith('SCAN happenings') || line.includes('TEMP B-TREE');
  expect(lines.filter(isSlow)).toEqual([]);
  const searches = lines.filter((line) => line.includes('INDEX happenings_of_account'));
  expect(searches).toHaveLength(4);
});

test('[H-26] a dispatch reads few events of the log in PostgreSQL, however many an account has', async () => {
  await withSession(async (session) => {
    await logEvents(session, 10_000);
    await session.query('analyze happenings');
    const readsOfDispatch = async () => {
      let reads = 0;
      const tx = explainingTx(session, (plan) => {
        reads += rowsRead(plan, 'happenings');
      });
      await session.run('begin');
      await procedures.dispatchWebhookEvents.run(tx, { after: '' });
      await session.run('rollback');
      return reads;
    };
    // From the sixth run on, PostgreSQL may plan without the account.
    for (let n = 0; n < 7; n++) expect(await readsOfDispatch()).toBeLessThan(300);
  });
}, 30_000);

// A search that read the whole log took longer than a call may: 200,000 new deliveries a minute were
// never removed. SQLite stores `due` after the body: a step over 10,000 pending deliveries read 50,000 pages.
test('[H-20] a clean-up searches the log of one webhook after another, by indexes of finished and of pending deliveries', async () => {
  const plans = await plansOf(async (tx) => {
    await tx.query(
      `insert into deliveries (id, webhook, type, body, created, state, due)
       with recursive made(n) as (select 1 union all select n + 1 from made where n < 10001)
       select 'd' || n, 'a webhook', 'test', '{}', n, 'pending', 1 from made`,
    );
    await tx.query(`update deliveries set epoch = ${2 ** 31 - 1}`);
    const found = await procedures.findOldDeliveries.run(tx, { nowMs: 1, after: '' });
    expect(found).toEqual({ old: [], stale: [], excess: ['d1'], after: 'a webhook' });
  });
  const lines = plans.slice(2).flat();
  const searches = lines.filter((line) => /^(SCAN|SEARCH) deliveries/.test(line));
  const indexes = searches.map((line) => /^SEARCH .* USING (.*) \(/.exec(line)?.[1] ?? line);
  expect(indexes).toEqual([
    'COVERING INDEX deliveries_of_webhook',
    'COVERING INDEX deliveries_of_webhook',
    'COVERING INDEX deliveries_finished',
    'COVERING INDEX deliveries_finished',
    'INDEX deliveries_waiting',
    'COVERING INDEX deliveries_waiting',
    'INDEX deliveries_of_webhook',
  ]);
});

// All pending deliveries of a webhook were counted for each 100 that fail: with 200,000 no call ended in time.
test('[H-20] a clean-up counts no more deliveries of a webhook in PostgreSQL than it may keep', async () => {
  await withSession(async (session) => {
    let reads = 0;
    const tx = explainingTx(session, (plan) => {
      reads += rowsRead(plan, 'deliveries');
    });
    await session.run('begin');
    await session.query(
      `insert into deliveries (id, webhook, type, body, created, state, due, epoch)
       select 'd' || n, 'a webhook', 'test', '{}', n, 'pending', 1, ${2 ** 31 - 1}
       from generate_series(1, 30000) n`,
    );
    await session.query('analyze deliveries');
    const found = await procedures.findOldDeliveries.run(tx, { nowMs: 1, after: '' });
    await session.run('rollback');
    expect(found.excess).toHaveLength(100);
    expect(reads).toBeLessThan(11_000);
  });
}, 30_000);
