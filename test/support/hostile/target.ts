import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '../backends/free-port.ts';
import { startCluster } from '../cluster/cluster.ts';
import { fourbeat, killServers, serveProcess, temporaryFolder } from '../harness/program.ts';

/** A process of the service. */
export interface TargetNode {
  readonly url: string;
  readonly pid: number;
  log(): string;
}

/** A running service that hostile requests are sent to. */
export interface Target {
  readonly nodes: readonly TargetNode[];
  readonly rtmpPort: number;
  readonly srtPort: number;
  createAccount(email: string): Promise<{ uuid: string; token: string }>;
  stop(): Promise<void>;
}

export interface TargetOptions {
  /** Three nodes on PostgreSQL and Redis, instead of one with everything in it. */
  readonly isCluster: boolean;
  /** Threads of each node. */
  readonly workers: number;
}

// Limits that one client does not reach: a 429 would hide what the request does.
const FLAGS = [
  ...['--rate-tokens', '10000000/60', '--rate-answers', '10000000/10'],
  ...['--rate-studio', '10000000/60', '--rate-failed-auth', '10000000/60'],
  ...['--rate-chat', '10000000/10', '--rate-sign-in', '10000000/60'],
  ...['--rate-passwords', '10000000/60', '--log-level', 'info'],
];

const ENVIRONMENT = {
  BUN_OPTIONS: `--preload ${fileURLToPath(new URL('../frequent-gc.ts', import.meta.url))}`,
};

/** Starts the service. `stop` it in `finally`. */
export async function startTarget({ isCluster, workers }: TargetOptions): Promise<Target> {
  const [rtmpPort, srtPort] = [await freePort(), await freePort()];
  const video = ['--rtmp-port', String(rtmpPort), '--srt-port', String(srtPort)];
  const threads = ['--workers', String(workers)];
  return isCluster
    ? startNodes([...FLAGS, ...threads], video, { rtmpPort, srtPort })
    : startEmbedded([...FLAGS, ...threads, ...video], { rtmpPort, srtPort });
}

type Ports = Pick<Target, 'rtmpPort' | 'srtPort'>;

async function startEmbedded(args: readonly string[], ports: Ports): Promise<Target> {
  const folder = temporaryFolder();
  const data = folder.path('data');
  const process = await serveProcess(['--data', data, ...args], ENVIRONMENT);
  return {
    ...ports,
    nodes: [process],
    async createAccount(email) {
      const account = ['account', 'create', '--data', data, '--email', email, '--name', 'Producer'];
      const { status, stdout, stderr } = await fourbeat(account);
      if (status !== 0) throw new Error(`cannot create an account: ${stderr}`);
      return JSON.parse(stdout);
    },
    async stop() {
      await killServers();
      folder.remove();
    },
  };
}

async function startNodes(
  args: readonly string[],
  video: readonly string[],
  ports: Ports,
): Promise<Target> {
  const folder = temporaryFolder();
  const withoutVideo = ['--rtmp-port', 'off', '--srt-port', 'off'];
  const cluster = await startCluster({
    envOf: () => ENVIRONMENT,
    argsOf: (node) => [
      ...['--media', folder.path(`media-${node}`), ...args],
      ...(node === 0 ? video : withoutVideo),
    ],
  });
  return {
    ...ports,
    nodes: cluster.nodes.map((node) => ({
      url: `http://${node.target.hostname}:${node.target.port}`,
      pid: node.pid,
      log: () => node.log(),
    })),
    createAccount: (email) => cluster.createAccount(email),
    async stop() {
      await cluster.stop();
      folder.remove();
    },
  };
}

/** What a node uses. */
export interface Usage {
  /** Resident memory in MB. */
  readonly memoryMb: number;
  readonly openFiles: number;
}

/** Reads from `/proc` (Linux) what each node uses. */
export function usagesOf({ nodes }: Target): Usage[] {
  return nodes.map(({ pid }) => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const memoryKb = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    return { memoryMb: memoryKb / 1024, openFiles: readdirSync(`/proc/${pid}/fd`).length };
  });
}
