import { freePort } from '../backends/free-port.ts';
import { type PostgresServer, startPostgres } from '../backends/postgres.ts';
import { type RedisServer, startRedis } from '../backends/redis.ts';
import { expectJson, newViewer, type TestViewer } from '../harness/harness.ts';
import { fourbeat, type ServerProcess, serveProcess } from '../harness/program.ts';
import { type Nginx, startNginx } from './nginx.ts';

/** The services of `deploy/compose` as processes: nginx, three nodes, Redis and PostgreSQL. */
export interface Cluster {
  readonly nginx: Nginx;
  readonly nodes: ServerProcess[];
  readonly redis: RedisServer;
  readonly postgres: PostgresServer;
  /** Calls the studio API through nginx. */
  studio(method: string, path: string, body?: unknown): Promise<Response>;
  createStream(): Promise<string>;
  /** A viewer whose requests go through nginx. */
  viewer(streamId: string): Promise<TestViewer>;
  /** Restarts a node that has ended, on its port. */
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

/** @param settings environment variables of all nodes, besides those of the Compose file */
export async function startCluster(settings: Record<string, string> = {}): Promise<Cluster> {
  const [postgres, redis, port] = await Promise.all([
    startPostgres({ fsync: false }),
    startRedis({ persistence: false }),
    freePort(),
  ]);
  const database = await postgres.createDatabase('show');
  const environment = {
    FOURBEAT_DATABASE: database,
    FOURBEAT_REDIS: redis.url,
    FOURBEAT_PUBLIC_URL: `http://127.0.0.1:${port}`,
    FOURBEAT_TRUST_PROXY: 'true',
    ...settings,
  };
  const nodes = await Promise.all([1, 2, 3].map(() => serveProcess([], environment)));
  const ports = nodes.map((node) => node.port);
  const nginx = await startNginx({ port, nodes: ports });
  const email = ['--email', 'ann@example.org', '--name', 'Ann'];
  const account = await fourbeat(['account', 'create', ...email], environment);
  if (account.status !== 0) throw new Error(`cannot create an account: ${account.stderr}`);
  const { token } = JSON.parse(account.stdout) as { token: string };
  const cluster: Cluster = {
    nginx,
    nodes,
    redis,
    postgres,
    studio: (method, path, body) =>
      fetch(`${nginx.url}/studio/v1${path}`, {
        method,
        headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async createStream() {
      const made = await cluster.studio('POST', '/streams', { title: 'A show' });
      return (await expectJson<{ id: string }>(made, 201)).id;
    },
    viewer: (streamId) => newViewer(nginx.url, streamId),
    async restart(index) {
      nodes[index] = await serveProcess(['--port', String(ports[index])], environment);
    },
    async stop() {
      await nginx.stop();
      for (const node of nodes) node.signal('SIGKILL');
      await Promise.all(nodes.map((node) => node.exited));
      await redis.stop();
      await postgres.stop();
    },
  };
  return cluster;
}
