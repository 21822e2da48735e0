import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

// The plans, not the time: with 200,000 pending deliveries a claim blocked all writes, sealing included.
test('[H-21] a claim finds due deliveries by one index entry of each webhook, without a join', async () => {
  const input = { lease: 'a lease', limit: 16, failingLimit: 8, inFlightByAccount: {}, nowMs: 1 };
  const plans = await plansOf((tx) => procedures.claimDeliveries.run(tx, input));
  expect(plans.length).toBeGreaterThan(0);
  for (const plan of plans) {
    const searches = plan.filter((line) => / d\b/.test(line));
    expect(searches).toHaveLength(3);
    for (const line of searches) expect(line).toMatch(/^SEARCH d USING .*deliveries_waiting/);
  }
});

// A search that read the whole log took longer than a call may: 200,000 new deliveries a minute were
// never removed.
test('[H-20] a clean-up searches the log of one webhook after another, by the index', async () => {
  const plans = await plansOf(async (tx) => {
    await tx.query(
      `insert into deliveries (id, webhook, type, body, created, state)
       values ('a delivery', 'a webhook', 'test', '{}', 1, 'delivered')`,
    );
    await procedures.findOldDeliveries.run(tx, { nowMs: 1, after: '' });
  });
  const lines = plans.slice(1).flat();
  expect(plans).toHaveLength(4);
  expect(lines.filter((line) => /^SCAN deliveries/.test(line))).toEqual([]);
  expect(lines.filter((line) => /^SEARCH deliveries/.test(line))).toHaveLength(5);
});
