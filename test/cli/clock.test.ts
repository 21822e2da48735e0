import { Database } from 'bun:sqlite';
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { intervalAt } from '../../protocol/interval.ts';
import { DATABASE_FILE } from '../../server/storage/sql/sqlite.ts';
import { createAccount, expectFailure } from '../support/harness/command-line.ts';
import { fourbeat } from '../support/harness/program.ts';

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-clock-'));
afterAll(() => rmSync(directory, { recursive: true }));

const HOUR_MS = 3_600_000;

test('[K-7] clock set-back shows what it would do, does it with --yes, and refuses when time is not ahead', async () => {
  await createAccount(directory, 'ann@example.org');
  const refused = await fourbeat(['clock', 'set-back', '--yes', '--data', directory]);
  expect(expectFailure(refused)).toContain('service time is not ahead of the system clock');

  const database = new Database(join(directory, DATABASE_FILE));
  database.run(`update watermark set interval = ${intervalAt(Date.now() + 2 * HOUR_MS)}`);
  const watermark = () =>
    database.query<{ interval: number }, []>('select interval from watermark').get()?.interval ?? 0;
  const shown = await fourbeat(['clock', 'set-back', '--data', directory]);
  expect(shown.status).toBe(0);
  expect(shown.stderr).toContain('nothing was changed; add --yes');
  const plan = JSON.parse(shown.stdout) as { done: boolean; aheadMs: number };
  expect(plan).toMatchObject({ done: false, endedStreams: [] });
  expect(plan.aheadMs).toBeGreaterThan(1.9 * HOUR_MS);
  expect(watermark()).toBeGreaterThan(intervalAt(Date.now() + HOUR_MS));

  const done = await fourbeat(['clock', 'set-back', '--yes', '--data', directory]);
  expect([done.status, JSON.parse(done.stdout)]).toMatchObject([0, { done: true }]);
  expect(watermark()).toBeLessThanOrEqual(intervalAt(Date.now()));
  database.close();
});

test('[K-7] clock set-back fails without a database, and does not create its directory', async () => {
  const missing = join(directory, 'missing');
  const refused = await fourbeat(['clock', 'set-back', '--data', missing]);
  expect(expectFailure(refused)).toContain(`there is no database in ${missing}`);
  expect(existsSync(missing)).toBe(false);
});
