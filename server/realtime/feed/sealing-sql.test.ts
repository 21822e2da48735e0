import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { procedures } from '../../app/procedures.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { openMigratedSqlite, type Sqlite } from '../../storage/sql/sqlite.ts';
import { DatabaseRolledBack } from './sealed-sql.ts';

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

/** A transaction that records the query plan of each statement. */
function recordPlans(sqlite: Sqlite): { tx: Tx; plans: string[][] } {
  const plans: string[][] = [];
  const query: Tx['query'] = async (text, params) => {
    const steps = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    plans.push(steps.map(({ detail }) => detail));
    return sqlite.query(text, params);
  };
  return { tx: { ...sqlite, query }, plans };
}

/** A transaction that records the text of each statement. */
function recordTexts(sqlite: Sqlite): { tx: Tx; texts: string[] } {
  const texts: string[] = [];
  const query: Tx['query'] = (text, params) => {
    texts.push(text);
    return sqlite.query(text, params);
  };
  return { tx: { ...sqlite, query }, texts };
}

test('[F-13] the newest bodies of all streams are found without a scan of the stored feed', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = recordPlans(sqlite);
    await sqlite.query('update watermark set interval = 40');
    const { bodies } = await procedures.readSealedOfAll.run(tx, { from: 1, to: 40 });
    expect(bodies).toEqual([]);
    const plan = plans.flat().join('\n');
    expect(plan).toMatch(/SEARCH sealed_intervals .*stream_id=\? AND interval>\?/);
    expect(plan).not.toContain('SCAN sealed_intervals');
  }));

test('[I-1] [N-22] intervals that the database lacks are not read as empty ones', () =>
  withDatabase(async (sqlite) => {
    await sqlite.query('update watermark set interval = 40');
    const page = { streamId: 'a stream', from: 1, limit: 10 };
    const { readSealed, readSealedOfAll } = procedures;
    expect(await readSealed.run(sqlite, { ...page, to: 40 })).toEqual([]);
    const lacking = [
      readSealed.run(sqlite, { ...page, to: 41 }),
      readSealedOfAll.run(sqlite, { from: 1, to: 41 }),
    ];
    for (const read of lacking) {
      expect(await read.catch((error) => error)).toBeInstanceOf(DatabaseRolledBack);
    }
  }));

test('[I-1] [N-22] an interval is not sealed on another timeline of the database than the coordinator knows', () =>
  withDatabase(async (sqlite) => {
    await sqlite.query('update watermark set interval = 6');
    const tx: Tx = { ...sqlite, timeline: '7:2' };
    const seal = (timeline: string) =>
      procedures.sealInterval.run(tx, {
        ...{ after: 6, interval: 7, nowMs: 2_000, transients: [], timeline },
      });
    for (const other of ['', '7:1', '8:2']) {
      expect(await seal(other)).toEqual({ outcome: 'other-timeline', timeline: '7:2' });
    }
    expect(await procedures.readWatermark.run(tx, {})).toBe(6);
    expect(await seal('7:2')).toMatchObject({ outcome: 'sealed' });
  }));

test('[F-13] sealing an empty interval takes two statements, and no scan of idle streams', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = recordPlans(sqlite);
    await sqlite.query('update watermark set interval = 6');
    const sealing = { after: 6, interval: 7, nowMs: 2_000, transients: [] };
    expect(await procedures.sealInterval.run(tx, sealing)).toEqual({
      outcome: 'sealed',
      bodies: [],
    });
    expect(plans).toHaveLength(2);
    const searches = plans
      .flat()
      .filter((line) => /\b(quizzes|streams|winners_rounds)\b/.test(line));
    expect(searches.sort()).toEqual([
      expect.stringMatching(/^SEARCH quizzes USING .*INDEX quizzes_due /),
      expect.stringMatching(/^SEARCH streams USING .*INDEX streams_due /),
      expect.stringMatching(/^SEARCH streams USING .*INDEX streams_left_by_source /),
      expect.stringMatching(/^SEARCH streams USING .*INDEX streams_sealed_ahead /),
      expect.stringMatching(/^SEARCH winners_rounds USING .*INDEX winners_rounds_due /),
    ]);
  }));

test('[H-21] sealing finds streams on air by an index, from subscriptions to their audience', () =>
  withDatabase(async (sqlite) => {
    const { tx, plans } = recordPlans(sqlite);
    const sealing = { after: 6, interval: 7, nowMs: 2_000, transients: [] };
    await sqlite.query('update watermark set interval = 6');
    await procedures.sealInterval.run(tx, sealing);
    const searches = plans.flat().filter((line) => /\b(s|subscriptions) USING/.test(line));
    expect(searches.sort()).toEqual([
      expect.stringMatching(/^SEARCH s USING .*INDEX streams_on_air \(producer=\?\)/),
      expect.stringMatching(/^SEARCH subscriptions USING .*INDEX .*subscriptions_1 \(type=\?\)/),
    ]);
  }));

test('[H-21] sealing events without subscribers takes one query for webhooks, and writes nothing', () =>
  withDatabase(async (sqlite) => {
    await sqlite.query(`insert into accounts values ('a', 'a@example.org', 'A', 0)`);
    await sqlite.query(
      `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status,
         created, ends_at) values ('s', 1, 'a', 'A show', 0, 0, 'STREAMING', 0, 1)`,
    );
    const { tx, texts } = recordTexts(sqlite);
    await sqlite.query('update watermark set interval = 6');
    const sealing = { after: 6, interval: 7, nowMs: 2_000, transients: [] };
    expect(await procedures.sealInterval.run(tx, sealing)).toMatchObject({ bodies: [] });
    const [stream] = await sqlite.query<{ status: string }>('select status from streams');
    expect(stream?.status).toBe('ENDED');
    const ofWebhooks = texts.slice(2).filter((text) => !text.includes('update streams'));
    expect(ofWebhooks).toEqual([
      expect.stringContaining('select id, title, started from streams'),
      expect.stringContaining('exists (select 1 from subscriptions'),
    ]);
  }));
