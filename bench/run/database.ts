import { startPostgres } from '../../test/support/backends/postgres.ts';
import { startRedis } from '../../test/support/backends/redis.ts';
import { SERVER_CORE, type Usage, usageOfFamily } from './pinned.ts';

/** A PostgreSQL on the core of the measured server, since its work is part of the result. */
export interface BenchDatabase {
  /** Creates an empty database. @returns its url */
  create(name: string): Promise<string>;
  usage(): Usage;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL with its default durability. */
export async function startDatabase(): Promise<BenchDatabase> {
  const postgres = await startPostgres();
  // Processes that PostgreSQL forks later inherit the core.
  const pinned = Bun.spawnSync(['taskset', '-acp', String(SERVER_CORE), String(postgres.pid)]);
  if (pinned.exitCode !== 0) throw new Error(`PostgreSQL cannot be pinned: ${pinned.stderr}`);
  return {
    create: (name) => postgres.createDatabase(name),
    usage: () => usageOfFamily(postgres.pid),
    stop: () => postgres.stop(),
  };
}

/**
 * Starts a Redis and creates a database. Unlike PostgreSQL, Redis is not pinned, and its CPU is not measured.
 * @returns the options of a service that uses both; `stop` ends Redis only
 */
export async function startClusterBackends(
  database: BenchDatabase,
): Promise<{ settings: string[]; stop(): Promise<void> }> {
  const redis = await startRedis({ persistence: false });
  const url = await database.create(`fourbeat_${crypto.randomUUID()}`);
  return {
    settings: ['--database', url, '--redis', redis.url, '--public-url', 'http://localhost'],
    stop: () => redis.stop(),
  };
}
