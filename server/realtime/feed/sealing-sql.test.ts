import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { procedures } from '../../app/procedures.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { openMigratedSqlite, type Sqlite } from '../../storage/sql/sqlite.ts';

async function withDatabase(work: (sqlite: Sqlite) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-sealing-'));
  const sqlite = await openMigratedSqlite(directory);
  try {
    await work(sqlite);
  } finally {
    await sqlite.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The database, and how it found what each statement asked for. */
function explaining(sqlite: Sqlite): { tx: Tx; plans: string[][] } {
  const plans: string[][] = [];
  const query: Tx['query'] = async (text, params) => {
    const steps = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    plans.push(steps.map(({ detail }) => detail));
    return sqlite.query(text, params);
  };
  return { tx: { ...sqlite, query }, plans };
}

/** The database, and what it was asked. */
function listening(sqlite: Sqlite): { tx: Tx; texts: string[] } {
  const texts: string[] = [];
  const query: Tx['query'] = (text, params) => {
    texts.push(text);
    return sqlite.query(text, params);
  };
  return { tx: { ...sqlite, query }, texts };
}

test('[F-13] what a lost answer sealed is found without reading the feed of years', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = explaining(sqlite);
    expect(await procedures.readSealedOfAll.run(tx, { from: 1, to: 40 })).toEqual([]);
    const plan = plans.flat().join('\n');
    expect(plan).toMatch(/SEARCH sealed_intervals .*stream_id=\? AND interval>\?/);
    expect(plan).not.toContain('SCAN sealed_intervals');
  }));

test('[F-13] an interval in which nothing happened costs two statements, and no look at idle streams', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = explaining(sqlite);
    const sealing = { after: -1, interval: 7, nowMs: 2_000, transients: [] };
    expect(await procedures.sealInterval.run(tx, sealing)).toEqual({
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

test('[H-21] streams on air are found by an index, from webhooks that want their minutes', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = explaining(sqlite);
    const sealing = { after: 6, interval: 7, nowMs: 2_000, transients: [] };
    await sqlite.query('update watermark set interval = 6');
    await procedures.sealInterval.run(tx, sealing);
    const looked = plans.flat().filter((line) => /\b(s|subscriptions) USING/.test(line));
    expect(looked.sort()).toEqual([
      expect.stringMatching(/^SEARCH s USING .*INDEX streams_on_air \(producer=\?\)/),
      expect.stringMatching(/^SEARCH subscriptions USING .*INDEX .*subscriptions_1 \(type=\?\)/),
    ]);
  }));

test('[H-21] what happens costs one look while nobody wants to be told, and writes nothing', () =>
  withDatabase(async (sqlite) => {
    await sqlite.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
    await sqlite.query(
      `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
         created, ends_at) values ('s', 1, 'a', 'A show', 0, 0, 'STREAMING', 0, 1)`,
    );
    const { tx, texts } = listening(sqlite);
    const sealing = { after: -1, interval: 7, nowMs: 2_000, transients: [] };
    expect(await procedures.sealInterval.run(tx, sealing)).toMatchObject({ bodies: [] });
    const [stream] = await sqlite.query<{ status: string }>('select status from streams');
    expect(stream?.status).toBe('ENDED');
    const ofWebhooks = texts.slice(2).filter((text) => !text.includes('update streams'));
    expect(ofWebhooks).toEqual([
      expect.stringContaining('select id, title, started from streams'),
      expect.stringContaining('exists (select 1 from subscriptions'),
    ]);
  }));
