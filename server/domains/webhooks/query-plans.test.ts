import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { procedures } from '../../app/procedures.ts';
import type { SqlValue, Tx } from '../../storage/sql/procedure.ts';
import { openMigratedSqlite } from '../../storage/sql/sqlite.ts';

// The plans, not the time: with 200,000 pending deliveries a claim blocked all writes, sealing included.
test('[H-21] a claim finds due deliveries by one index entry of each webhook, without a join', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-claim-plans-'));
  const sqlite = await openMigratedSqlite(directory);
  try {
    const statements: { text: string; params: SqlValue[] | undefined }[] = [];
    const tx: Tx = {
      ...sqlite,
      query: (text, params) => {
        statements.push({ text, params });
        return sqlite.query(text, params);
      },
    };
    const input = { lease: 'a lease', limit: 16, failingLimit: 8, inFlightByAccount: {}, nowMs: 1 };
    await procedures.claimDeliveries.run(tx, input);
    expect(statements.length).toBeGreaterThan(0);
    for (const { text, params } of statements) {
      const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
      const searches = plan.map(({ detail }) => detail).filter((line) => / d\b/.test(line));
      expect(searches).toHaveLength(3);
      for (const line of searches) expect(line).toMatch(/^SEARCH d USING .*deliveries_waiting/);
    }
  } finally {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
