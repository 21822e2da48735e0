import { expect, test } from 'bun:test';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../../test/support/backends/postgres.ts';
import { openSession, type PostgresSession } from './postgres.ts';

test('[N-22] a session has the timeline of its server, which grows when a server ends its recovery', async () => {
  const postgres = await startPostgres({ fsync: false });
  const open = () => openSession({ url: postgres.url, connectTimeoutMs: 5_000 });
  // While it recovers, a server counts as a standby.
  const opened = (): Promise<PostgresSession> => open().catch(() => Bun.sleep(20).then(opened));
  const timeline = async () => {
    const session = await opened();
    await session.end();
    return session.timeline;
  };
  try {
    const before = await timeline();
    const [system, number] = before.split(':').map(Number) as [number, number];
    expect(Math.min(system, number)).toBeGreaterThan(0);
    await postgres.kill9();
    await postgres.start();
    expect(await timeline()).toBe(before);
    await postgres.halt();
    const data = join(postgres.directory, 'data');
    // As with a promoted standby or a restored backup: there is nothing more to restore.
    appendFileSync(join(data, 'postgresql.auto.conf'), "restore_command = '/bin/false'\n");
    writeFileSync(join(data, 'recovery.signal'), '');
    await postgres.start();
    expect(await timeline()).toBe(before.replace(/\d+$/, `${number + 1}`));
  } finally {
    await postgres.stop();
  }
}, 30_000);
