import { expect, test } from 'bun:test';
import { Client } from 'pg';
import { pino } from 'pino';
import {
  openPostgresDatabase,
  type PostgresDatabase,
} from '../../server/storage/sql/database-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/backends/postgres.ts';
import { keyed, resultOf } from '../support/database/contract.ts';
import { testProcedures } from '../support/database/procedures.ts';

type TestDatabase = PostgresDatabase<typeof testProcedures>;

const NODES = 3;
const WRITERS = 9;

async function terminateAll(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fourbeat'",
  );
  await client.end();
}

/** A fault of the server; it is over when the promise resolves. */
const FAULTS: Record<string, (server: PostgresServer, url: string) => Promise<void>> = {
  async killed(server) {
    await server.kill9();
    await Bun.sleep(100);
    await server.start();
  },
  async restarted(server) {
    await server.halt();
    await server.start();
  },
  async paused(server) {
    server.pause();
    await Bun.sleep(700);
    server.resume();
  },
  async 'paused for a moment'(server) {
    server.pause();
    await Bun.sleep(150);
    server.resume();
  },
  terminated: (_, url) => terminateAll(url),
  async 'not the server but this process stalled'() {
    Bun.sleepSync(1_200);
  },
};

/** Writes with idempotency keys until `isOver`, and repeats a write that failed. */
async function write(
  database: TestDatabase,
  name: string,
  isOver: () => boolean,
): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let note = 0; !isOver(); note++) {
    const text = `${name} ${note}`;
    while (typeof (await resultOf(database.store.add({ text }, keyed(text)))) !== 'number') {
      if (isOver()) return acknowledged;
      await Bun.sleep(5);
    }
    acknowledged.push(text);
  }
  return acknowledged;
}

test('[N-11] [N-19] [R-1] [R-10] each write is saved once under load and server faults, and all nodes recover within 2 s', async () => {
  const server = await startPostgres();
  const databases: TestDatabase[] = [];
  try {
    const url = await server.createDatabase('faults');
    const logger = pino({ enabled: false });
    for (let node = 0; node < NODES; node++) {
      databases.push(await openPostgresDatabase({ procedures: testProcedures, url, logger }));
    }
    await databases[0]?.store.prepare({});
    let isOver = false;
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      write(databases[writer % NODES] as TestDatabase, `writer ${writer}`, () => isOver),
    );
    const slow: string[] = [];
    for (const [fault, inject] of Object.entries(FAULTS)) {
      await Bun.sleep(200);
      await inject(server, url);
      const startMs = performance.now();
      for (const { store } of databases) {
        while (typeof (await resultOf(store.list({}))) === 'string') await Bun.sleep(10);
      }
      if (performance.now() - startMs > 2_000) slow.push(fault);
    }
    isOver = true;
    const acknowledged = (await Promise.all(writers)).flat();
    const savedNotes = (await databases[0]?.store.list({})) ?? [];
    expect(slow).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(WRITERS);
    expect(savedNotes).toEqual([...new Set(savedNotes)]);
    const saved = new Set(savedNotes);
    expect(acknowledged.filter((text) => !saved.has(text))).toEqual([]);
    // The last write of each writer may be saved although its response was lost.
    expect(savedNotes.length - acknowledged.length).toBeLessThanOrEqual(WRITERS);
  } finally {
    await Promise.all(databases.map((database) => database.close()));
    await server.stop();
  }
}, 60_000);
