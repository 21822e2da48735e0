import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { intervalAt } from '../protocol/interval.ts';
import { procedures } from '../server/app/procedures.ts';
import { ReportMaker } from '../server/domains/reports/report-maker.ts';
import { openDirectDatabase } from '../server/storage/sql/database-direct.ts';
import { openPostgresDatabase } from '../server/storage/sql/database-postgres.ts';
import { openSqliteDatabase } from '../server/storage/sql/database-sqlite.ts';
import type { Calls, Database } from '../server/storage/sql/procedure.ts';
import { startPostgres } from '../test/support/backends/postgres.ts';
import { longShowProcedures } from '../test/support/streams/long-show.ts';

// Measures how long the report of a 3 h show with 100,000 answers takes, and how late other work is meanwhile.
// Usage: `bun bench/report.ts [chat messages per interval]`

const withShow = { ...procedures, ...longShowProcedures };
type Opened = Database<typeof procedures>;

const messagesPerInterval = Number(process.argv[2] ?? 5);
const SHOW = { intervals: 3 * 3_600 * 4, messagesPerInterval, viewers: 2_000, quizzes: 50 };
const PRODUCER = crypto.randomUUID();
const SAMPLE_MS = 5;

async function fill({ createAccount, writeShow }: Calls<typeof withShow>): Promise<string> {
  const streamId = crypto.randomUUID();
  const user = { uuid: PRODUCER, email: 'a@example.org', name: 'A', created: 0 };
  const token = { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' };
  await createAccount({ user, token, nowMs: 0 });
  await writeShow({ ...SHOW, streamId, producer: PRODUCER, endedMs: Date.now() - 250 });
  return streamId;
}

const worst = (all: readonly number[], share: number) =>
  all.toSorted((a, b) => a - b)[Math.floor((all.length - 1) * share)]?.toFixed(1);

/** Seals four times a second and measures the event loop lag while a report is computed. */
async function measure(name: string, database: Opened, streamId: string): Promise<void> {
  const { store } = database;
  const sealings: number[] = [];
  const delays: number[] = [];
  let after = await store.readWatermark({});
  const sealing = setInterval(async () => {
    const beganMs = performance.now();
    const interval = Math.max(after + 1, intervalAt(Date.now()) - 1);
    const input = { after, interval, nowMs: Date.now(), transients: [] };
    if ((await store.sealInterval(input)).outcome === 'sealed') after = interval;
    sealings.push(performance.now() - beganMs);
  }, 250);
  let lastMs = performance.now();
  const looking = setInterval(() => {
    const nowMs = performance.now();
    delays.push(Math.max(0, nowMs - lastMs - SAMPLE_MS));
    lastMs = nowMs;
  }, SAMPLE_MS);
  const memory: number[] = [];
  const watching = setInterval(() => memory.push(process.memoryUsage().rss / 2 ** 20), 50);
  const figures = () =>
    `sealing p99 ${worst(sealings, 0.99)} ms, event loop late p99 ${worst(delays, 0.99)} ms, most ${worst(delays, 1)} ms`;
  await Bun.sleep(3_000);
  const rssBefore = process.memoryUsage().rss / 2 ** 20;
  console.log(`${name}, idle: ${figures()}`);
  sealings.length = 0;
  delays.length = 0;
  memory.length = 0;
  const clock = { nowMs: () => Date.now() };
  const logger = pino({ level: 'warn' });
  const reports = new ReportMaker({
    store: store,
    clock,
    logger,
    newId: () => crypto.randomUUID(),
  });
  const beganMs = performance.now();
  await reports.makeAll();
  const tookMs = performance.now() - beganMs;
  const { report } = await store.readReport({ streamId, producer: PRODUCER });
  const more = Math.max(...memory) - rssBefore;
  console.log(
    `${name}, making: ${(tookMs / 1_000).toFixed(1)} s, ${more.toFixed(0)} MB more, ${figures()}`,
  );
  console.log(
    `  ${report?.fairness?.answers} answers, ${report?.chat.lines.message} lines, ${JSON.stringify(report).length} bytes`,
  );
  for (const timer of [sealing, looking, watching]) clearInterval(timer);
}

async function inSqlite(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-bench-'));
  const filling = await openDirectDatabase(withShow, directory);
  const streamId = await fill(filling.store);
  await filling.close();
  const database = await openSqliteDatabase({
    procedures,
    worker: new URL('../server/app/database-worker.ts', import.meta.url),
    directory,
    onFailed: (reason) => console.error(reason),
  });
  await measure('SQLite', database, streamId);
  await database.close();
  rmSync(directory, { recursive: true, force: true });
}

async function inPostgres(): Promise<void> {
  const server = await startPostgres({});
  const url = await server.createDatabase('report');
  const logger = pino({ level: 'warn' });
  const filling = await openPostgresDatabase({ procedures: withShow, url, logger });
  const streamId = await fill(filling.store);
  await filling.close();
  const database = await openPostgresDatabase({ procedures, url, logger });
  await measure('PostgreSQL', database, streamId);
  await database.close();
  await server.stop();
}

await inSqlite();
await inPostgres();
