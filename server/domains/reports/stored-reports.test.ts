import { expect, test } from 'bun:test';
import { insertStream, sqliteBefore } from '../../../test/support/database/sqlite-of-file.ts';
import { migrate } from '../../storage/sql/migrate.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { reportProcedures } from './reports-sql.ts';

test('[R-7] [J-11] a migration keeps stored reports, and has large ones made again in parts', async () => {
  const sqlite = await sqliteBefore(29);
  const reports = {
    small: '{"made":1}',
    large: `{"made":1,"quizzes":["${'?'.repeat(1_000_000)}"]}`,
  };
  for (const [number, [id, text]] of Object.entries(reports).entries()) {
    await insertStream(sqlite, id, number);
    await sqlite.query('insert into reports (stream_id, done, report) values ($1, 1000, $2)', [
      id,
      text,
    ]);
  }
  await inTransaction(sqlite, () => migrate(sqlite, 'sqlite', 0));
  const read = (streamId: string) =>
    reportProcedures.readReport.run(sqlite, { streamId, producer: 'a' });
  const { text } = await read('small');
  if (!text) throw new Error('the report is not ready');
  const part = { streamId: 'small', part: 0, ...text };
  expect(await reportProcedures.readReportPart.run(sqlite, part)).toBe(reports.small);
  expect(await read('large')).toMatchObject({ text: null, done: 0 });
  const claim = { lease: 'a node', after: '', nowMs: 1 };
  const claimed = await reportProcedures.claimReport.run(sqlite, claim);
  expect(claimed).toMatchObject({ streamId: 'large', account: 'a' });
});
