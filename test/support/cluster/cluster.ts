import { freePort } from '../backends/free-port.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { startRedis } from '../backends/redis.ts';
import { fourbeat } from '../harness/program.ts';
import { ClusterNode } from './node.ts';

export interface ClusterOptions {
  /** Number of nodes (default 3). */
  readonly nodes?: number;
  /** Command line options of each node, such as its roles. */
  readonly argsOf?: (node: number) => readonly string[];
  readonly envOf?: (node: number) => Record<string, string>;
  /** The Redis to use; by default the cluster starts one. */
  readonly redis?: RedisSetup;
  readonly postgres?: PostgresServer;
  /** Network settings of a node that runs outside the network of this process. */
  readonly networkOf?: (node: number) => Partial<NodeNetwork>;
}

/** A Redis of one or several servers. */
export interface RedisSetup {
  readonly url: string;
  stop(): Promise<void>;
}

export interface NodeNetwork {
  readonly hostname: string;
  /** URL at which the node reaches Redis. */
  readonly redisUrl: string;
  /** Command that runs a program in the network of the node. */
  readonly commandPrefix: readonly string[];
}

/** Several nodes, as processes, with a Redis and a PostgreSQL of their own. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[];
  readonly postgres: PostgresServer;
  /** Url of the database. */
  readonly database: string;
  /** The process of each node that runs. */
  nodePids(): ReadonlyMap<number, number>;
  /** Creates an account in the database. @returns its uuid and API token */
  createAccount(email: string): Promise<{ uuid: string; token: string }>;
  /** Kills all processes and removes their files. */
  stop(): Promise<void>;
}

// Rate limits that many viewers on one address do not reach, and a log of warnings and errors.
const FLAGS = [
  ...['--rate-tokens', '1000000/60', '--rate-answers', '1000/10', '--rate-studio', '100000/60'],
  ...['--rate-failed-auth', '100000/60', '--rate-chat', '1000/10', '--log-level', 'warn'],
  ...['--public-url', 'https://live.example.org'],
];

/**
 * Starts a cluster and waits until its nodes are ready. `stop` it in `afterAll` or `finally`.
 * @throws Error with the log of a node that does not get ready
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const [redis, postgres] = await Promise.all([
    // Nodes must not depend on what Redis stores on disk (N-12).
    options.redis ?? startRedis({ persistence: false }),
    // Tests kill processes, never the machine, so the page cache suffices for commits; an fsync
    // takes up to half a second on a shared disk.
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
      const network = options.networkOf?.(node) ?? {};
      const target = { hostname: network.hostname ?? '127.0.0.1', port: await freePort() };
      const args = [
        ...['--database', database, '--redis', network.redisUrl ?? redis.url],
        ...FLAGS,
        ...(options.argsOf?.(node) ?? []),
      ];
      const env = options.envOf?.(node) ?? {};
      nodes.push(
        new ClusterNode({ target, args, env, commandPrefix: network.commandPrefix ?? [] }),
      );
    }
    // All at once, as a supervisor starts them: the first one creates the tables.
    await Promise.all(nodes.map((node) => node.start()));
    return {
      nodes,
      postgres,
      database,
      stop,
      nodePids: () =>
        new Map(nodes.flatMap((node, number) => (node.isRunning ? [[number, node.pid]] : []))),
      async createAccount(email) {
        const { status, stdout, stderr } = await fourbeat([
          ...['account', 'create', '--database', database, '--email', email, '--name', 'Producer'],
        ]);
        if (status !== 0) throw new Error(`cannot create an account: ${stderr}`);
        return JSON.parse(stdout);
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
