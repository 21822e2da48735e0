import { startPostgres } from '../../test/support/backends/postgres.ts';
import { startRedis } from '../../test/support/backends/redis.ts';
import { SERVER_CORE, type Usage, usageOfFamily } from './pinned.ts';

/** A PostgreSQL on the core of what is measured: what it does is part of what is measured. */
export interface BenchDatabase {
  /** An empty database. @returns its url */
  create(name: string): Promise<string>;
  /** Of all its processes. */
  usage(): Usage;
  stop(): Promise<void>;
}

/** Starts one that flushes every commit to the disk, as it does by default. */
export async function startDatabase(): Promise<BenchDatabase> {
  const postgres = await startPostgres();
  // Those that it forks from now on are where it is.
  const pinned = Bun.spawnSync(['taskset', '-acp', String(SERVER_CORE), String(postgres.pid)]);
  if (pinned.exitCode !== 0) throw new Error(`PostgreSQL cannot be pinned: ${pinned.stderr}`);
  return {
    create: (name) => postgres.createDatabase(name),
    usage: () => usageOfFamily(postgres.pid),
    stop: () => postgres.stop(),
  };
}

/** Settings of a service on a new database there, and on a Redis of its own. */
export async function onDatabase(
  database: BenchDatabase,
): Promise<{ settings: string[]; stop(): Promise<void> }> {
  const redis = await startRedis({ persistence: false });
  const url = await database.create(`fourbeat_${crypto.randomUUID()}`);
  return {
    settings: ['--database', url, '--redis', redis.url, '--public-url', 'http://localhost'],
    stop: () => redis.stop(),
  };
}
