import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMigratedSqlite } from '../sql/sqlite.ts';
import { sealingProcedures } from './sealing-sql.ts';

test('[F-13] what a lost answer sealed is found without reading the feed of years', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sealing-'));
  const sqlite = await openMigratedSqlite(directory);
  const plans: string[] = [];
  const explained: typeof sqlite.query = async (text, params) => {
    const steps = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    plans.push(...steps.map(({ detail }) => detail));
    return sqlite.query(text, params);
  };
  const tx = { ...sqlite, query: explained };
  expect(await sealingProcedures.readSealedOfAll.run(tx, { from: 1, to: 40 })).toEqual([]);
  expect(plans.join('\n')).toMatch(/SEARCH sealed_intervals .*stream_id=\? AND interval>\?/);
  expect(plans.join('\n')).not.toContain('SCAN sealed_intervals');
  await sqlite.close();
  rmSync(directory, { recursive: true, force: true });
});
