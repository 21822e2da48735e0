import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../../protocol/report.ts';
import { openDirectDatabase } from '../../server/storage/sql/database-direct.ts';
import { fourbeat, type ServerProcess, serveProcess } from '../support/harness/program.ts';
import { type LongShow, longShowProcedures } from '../support/streams/long-show.ts';

/** Long enough that progress is saved before the report is ready. Each interval has 3 hearts. */
const SHOW: Omit<LongShow, 'endedMs'> = {
  streamId: crypto.randomUUID(),
  intervals: 100_000,
  messagesPerInterval: 2,
  viewers: 2_000,
  quizzes: 2,
};

let directory: string;
let token: string;
let running: ServerProcess;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fourbeat-report-kill-'));
  const account = ['account', 'create', '--email', 'a@example.org', '--name', 'A'];
  const made = JSON.parse((await fourbeat([...account, '--data', directory])).stdout);
  token = made.token;
  const database = await openDirectDatabase(longShowProcedures, directory);
  await database.store.writeShow({ ...SHOW, producer: made.uuid, endedMs: Date.now() });
  await database.close();
}, 60_000);
afterAll(async () => {
  running?.signal('SIGKILL');
  await running?.exited;
  rmSync(directory, { recursive: true, force: true });
});

const serve = async () => {
  running = await serveProcess(['--data', directory, '--roles', 'studio', '--log-level', 'error']);
};

async function report(): Promise<Report> {
  const response = await fetch(`${running.url}/studio/v1/streams/${SHOW.streamId}/report`, {
    headers: { Authorization: `Token ${token}` },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Report;
}

async function until(condition: (report: Report) => boolean): Promise<Report> {
  for (;;) {
    const now = await report();
    if (condition(now)) return now;
    await Bun.sleep(50);
  }
}

test('[J-3] a report continues from its saved progress after kill -9', async () => {
  await serve();
  const beforeKill = await until((now) => now.state !== 'working' || now.done > 0);
  running.signal('SIGKILL');
  await running.exited;
  await serve();
  const afterKill = await report();
  if (afterKill.state !== 'working' || beforeKill.state !== 'working') {
    throw new Error(`the report is ${beforeKill.state}, then ${afterKill.state}`);
  }
  expect(afterKill.done).toBeGreaterThanOrEqual(beforeKill.done);
  const ready = await until((now) => {
    // Progress never goes back, as it would if the report started over.
    if (now.state === 'working') expect(now.done).toBeGreaterThanOrEqual(afterKill.done);
    return now.state !== 'working';
  });
  if (ready.state !== 'ready') throw new Error(`the report is ${ready.state}`);
  const { intervals, messagesPerInterval, viewers } = SHOW;
  expect(ready.chat.lines.message).toBe(intervals * messagesPerInterval);
  expect(ready.chat.hearts).toBe(intervals * 3);
  expect(ready.uniqueViewers).toBe(viewers);
  expect(ready.quizzes.map(({ answered }) => answered)).toEqual([viewers, viewers]);
  expect(ready.fairness).toMatchObject({ answers: 2 * viewers, early: 0 });
  expect(ready.audience.length).toBeGreaterThan(900); // of at most 1,000 points
}, 90_000);
