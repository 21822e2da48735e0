import { freePort } from '../backends/free-port.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { startRedis } from '../backends/redis.ts';
import { fourbeat } from '../harness/program.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  /** How many nodes (default 3). */
  readonly nodes?: number;
  /** Settings of each node by its number, such as its roles. */
  readonly args?: (node: number) => readonly string[];
  /** Variables of each node. */
  readonly env?: (node: number) => Record<string, string>;
  /** The Redis to use, in place of one that is started. */
  readonly redis?: Stoppable;
  readonly postgres?: PostgresServer;
  /** Where a node is, when it is not on this machine's own network. */
  readonly place?: (node: number) => Partial<NodePlace>;
}

/** A Redis, however many servers it is. */
export interface Stoppable {
  readonly url: string;
  stop(): Promise<void>;
}

export interface NodePlace {
  /** Its address. */
  readonly hostname: string;
  /** How it reaches Redis. */
  readonly redisUrl: string;
  /** What runs the program there. */
  readonly within: readonly string[];
}

/** Several nodes on a Redis and a PostgreSQL of their own. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly postgres: PostgresServer;
  /** Url of the database. */
  readonly database: string;
  /** Makes an account on the database. @returns its uuid and API token */
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
    // Processes are killed here, never the machine, and a disk that others use takes half a second
    // for an fsync at times: what is committed is in the system's cache.
    options.postgres ?? startPostgres({ fsync: false }),
  ]);
  const nodes: ClusterNode[] = [];
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all([redis.stop(), postgres.stop()]);
  };
  try {
    const database = await postgres.createDatabase('fourbeat');
    for (let node = 0; node < (options.nodes ?? 3); node++) {
      const place = options.place?.(node) ?? {};
      const target = { hostname: place.hostname ?? '127.0.0.1', port: await freePort() };
      const args = [
        ...['--database', database, '--redis', place.redisUrl ?? redis.url],
        ...FLAGS,
        ...(options.args?.(node) ?? []),
      ];
      const env = options.env?.(node) ?? {};
      nodes.push(new ClusterNode({ target, args, env, within: place.within ?? [] }));
    }
    // At once, as a supervisor starts them: the database is made by whichever comes first.
    await Promise.all(nodes.map((node) => node.start()));
    return {
      nodes,
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
