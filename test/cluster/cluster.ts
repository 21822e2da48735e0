import { freePort } from '../backends/free-port.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import { fourbeat } from '../program.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  /** How many nodes (default 3). */
  readonly nodes?: number;
  /** Settings of each node by its number, such as its roles. */
  readonly args?: (node: number) => readonly string[];
  readonly redis?: RedisServer;
  readonly postgres?: PostgresServer;
  /** How nodes reach Redis; else the address of the server. */
  readonly redisUrl?: (url: string, node: number) => string;
  readonly databaseUrl?: (url: string, node: number) => string;
  readonly hostname?: (node: number) => string;
  readonly within?: (node: number) => readonly string[];
}

/** Several nodes on a Redis and a PostgreSQL of their own. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** Url of the record. */
  readonly database: string;
  /** Makes an account on the record. @returns its uuid and API token */
  createAccount(email: string): Promise<{ uuid: string; token: string }>;
  /** Ends everything, and removes what it wrote. */
  stop(): Promise<void>;
}

// What a crowd on one address needs, and a log that shows what went wrong.
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--rate-chat', '1000/10', '--log-level', 'warn'],
  ...['--public-url', 'https://live.example.org'],
];

/** Starts nodes that are ready; `stop` them in `afterAll` or `finally`. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const [redis, postgres] = await Promise.all([
    // Its files are not what anything depends on: what it forgets must not matter (N-12).
    options.redis ?? startRedis({ persistence: false }),
    options.postgres ?? startPostgres(),
  ]);
  const nodes: ClusterNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all([redis.stop(), postgres.stop()]);
  };
  try {
    const database = await postgres.createDatabase('fourbeat');
    for (let node = 0; node < (options.nodes ?? 3); node++) {
      const hostname = options.hostname?.(node) ?? '127.0.0.1';
      nodes.push(
        new ClusterNode({
          target: { hostname, port: await freePort() },
          within: options.within?.(node) ?? [],
          args: [
            ...['--database', options.databaseUrl?.(database, node) ?? database],
            ...['--redis', options.redisUrl?.(redis.url, node) ?? redis.url],
            ...FLAGS,
            ...(options.args?.(node) ?? []),
          ],
        }),
      );
    }
    // At once, as a supervisor starts them: the record is made by whichever comes first.
    await Promise.all(nodes.map((node) => node.start()));
    return {
      nodes,
      redis,
      postgres,
      database,
      stop,
      async createAccount(email) {
        const { status, stdout, stderr } = await fourbeat([
          ...['account', 'create', '--database', database, '--email', email, '--name', 'Producer'],
        ]);
        if (status !== 0) throw new Error(`no account was made: ${stderr}`);
        return JSON.parse(stdout);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
