import { expect, test } from 'bun:test';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { logSealedEvents } from './event-log-sql.ts';
import { MINUTE_INTERVALS } from './webhook-events.ts';

const sqlite = await sqliteOfFile();

test('[H-25] a sealing writes only the audience counts that changed', async () => {
  const onAir = ['busy', 'idle'];
  for (const [index, id] of onAir.entries()) await insertStream(sqlite, id, index);
  let written: unknown[] = [];
  const tx: Tx = {
    ...sqlite,
    query: (text, params) => {
      if (text.startsWith('insert into audience_minutes')) written = JSON.parse(`${params?.[0]}`);
      return sqlite.query(text, params);
    },
  };
  const writtenBy = async (second: number, viewers: number) => {
    written = [];
    const counts = new Map([['busy', viewers]]);
    const interval = 10 * MINUTE_INTERVALS + 4 * second + 3;
    expect(await logSealedEvents(tx, { interval, nowMs: 0, events: [], onAir, counts })).toBeNull();
    return written;
  };
  const both = (viewers: number) => [
    ['busy', viewers],
    ['idle', 0],
  ];
  expect(await writtenBy(0, 3)).toEqual(both(3));
  expect(await writtenBy(1, 3)).toEqual([]);
  expect(await writtenBy(2, 5)).toEqual([['busy', 5]]);
  expect(await writtenBy(3, 4)).toEqual([['busy', 4]]);
  expect(await writtenBy(60, 4)).toEqual(both(4));
  const rows = await sqlite.query('select * from audience_minutes order by minute, stream_id');
  expect([...rows]).toEqual([
    { minute: 10, stream_id: 'busy', count: 4, peak: 5 },
    { minute: 10, stream_id: 'idle', count: 0, peak: 0 },
    { minute: 11, stream_id: 'busy', count: 4, peak: 4 },
    { minute: 11, stream_id: 'idle', count: 0, peak: 0 },
  ]);
});
