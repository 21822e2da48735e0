import { expect, test } from 'bun:test';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../../../test/support/backends/postgres.ts';
import { openSession, type PostgresSession } from './postgres.ts';

test('[N-22] a session has the timeline of its server, which grows when a server ends its recovery, and none when it does not show it', async () => {
  const postgres = await startPostgres({ fsync: false });
  // While it recovers, a server counts as a standby.
  const open = (url = postgres.url): Promise<PostgresSession> =>
    openSession({ url, connectTimeoutMs: 5_000 }).catch(() => Bun.sleep(20).then(() => open(url)));
  const timeline = async (url?: string) => {
    const session = await open(url);
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
    const owner = await open();
    await owner.query("create role guest login password 'guest'");
    await owner.query('revoke execute on function pg_control_system() from public');
    await owner.end();
    expect(await timeline(postgres.url.replace(/\/\/.*@/, '//guest:guest@'))).toBe('');
    expect(await timeline()).toBe(before.replace(/\d+$/, `${number + 1}`));
  } finally {
    await postgres.stop();
  }
}, 30_000);
