import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tx } from '../sql/procedure.ts';
import { openMigratedSqlite, type Sqlite } from '../sql/sqlite.ts';
import { sealingProcedures } from './sealing-sql.ts';

async function withRecord(work: (sqlite: Sqlite) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sealing-'));
  const sqlite = await openMigratedSqlite(directory);
  try {
    await work(sqlite);
  } finally {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The record, and how it found what each statement asked for. */
function explaining(sqlite: Sqlite): { tx: Tx; plans: string[][] } {
  const plans: string[][] = [];
  const query: Tx['query'] = async (text, params) => {
    const steps = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    plans.push(steps.map(({ detail }) => detail));
    return sqlite.query(text, params);
  };
  return { tx: { ...sqlite, query }, plans };
}

test('[F-13] what a lost answer sealed is found without reading the feed of years', () =>
  withRecord(async (sqlite) => {
    const { tx, plans } = explaining(sqlite);
    expect(await sealingProcedures.readSealedOfAll.run(tx, { from: 1, to: 40 })).toEqual([]);
    const plan = plans.flat().join('\n');
    expect(plan).toMatch(/SEARCH sealed_intervals .*stream_id=\? AND interval>\?/);
    expect(plan).not.toContain('SCAN sealed_intervals');
  }));

test('[F-13] an interval in which nothing happened costs two statements, and no look at idle streams', () =>
  withRecord(async (sqlite) => {
    const { tx, plans } = explaining(sqlite);
    const sealing = { after: -1, interval: 7, nowMs: 2_000, transients: [] };
    expect(await sealingProcedures.sealInterval.run(tx, sealing)).toEqual({
      outcome: 'sealed',
      bodies: [],
    });
    expect(plans).toHaveLength(2);
    const looked = plans.flat().filter((line) => /\b(quizzes|streams|winners_rounds)\b/.test(line));
    expect(looked.sort()).toEqual([
      expect.stringMatching(/^SEARCH quizzes USING .*INDEX quizzes_due /),
      expect.stringMatching(/^SEARCH streams USING .*INDEX streams_due /),
      expect.stringMatching(/^SEARCH streams USING .*INDEX streams_left_by_source /),
      expect.stringMatching(/^SEARCH winners_rounds USING .*INDEX winners_rounds_due /),
    ]);
  }));
