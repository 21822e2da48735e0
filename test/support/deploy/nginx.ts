import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { freePort } from '../backends/free-port.ts';
import { binaryOf } from '../backends/server-programs.ts';
import { watchOver } from '../backends/watchdog.ts';

export const COMPOSE = fileURLToPath(new URL('../../../deploy/compose/', import.meta.url));

export interface NginxOptions {
  /** Where it listens, in place of 8080. */
  readonly port: number;
  /** Ports of the nodes on 127.0.0.1, in place of the addresses in the file. */
  readonly nodes: readonly number[];
  /** Port of the node with video; that of the first node when it is left out. */
  readonly media?: number;
  /** A change to the file, for a test that must see what it breaks. */
  readonly edit?: (config: string) => string;
  /** Text of a file in the directory of TLS, with `DIRECTORY` for where certificates are. */
  readonly tls?: string;
}

/** nginx with the configuration of `deploy/`. */
export interface Nginx {
  readonly url: string;
  /** Its log of requests, an object for each line. */
  accessLog(): Record<string, unknown>[];
  errorLog(): string;
  stop(): Promise<void>;
}

/** The very file that is deployed, with nothing but ports, addresses and paths replaced. */
function configFor(directory: string, { port, nodes, media, edit }: NginxOptions): string {
  const places = new Map<string, number | undefined>();
  const replaced = readFileSync(`${COMPOSE}nginx/nginx.conf`, 'utf8')
    .replace('listen 8080 ', `listen 127.0.0.1:${port} `)
    .replace('server 10.42.50.21:4250', `server 127.0.0.1:${media ?? nodes[0]}`)
    .replace(/server (10\.42\.50\.\d+):4250/g, (_, address: string) => {
      if (!places.has(address)) places.set(address, nodes[places.size]);
      return `server 127.0.0.1:${places.get(address)}`;
    })
    .replaceAll('/tmp/', `${directory}/`)
    .replace('/etc/nginx/tls/', `${directory}/tls/`)
    .replace('/dev/stderr', `${directory}/error.log`)
    .replace('/dev/stdout', `${directory}/access.log`);
  if (places.size !== nodes.length) throw new Error(`the file has ${places.size} nodes`);
  return edit ? edit(replaced) : replaced;
}

/** A directory of its own, which the workers of a superuser's nginx can look into. */
function prepare(options: NginxOptions): { directory: string; command: string[] } {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-nginx-'));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'tls'));
  if (options.tls) {
    const tls = options.tls.replaceAll('DIRECTORY', join(directory, 'tls'));
    writeFileSync(join(directory, 'tls', 'tls.conf'), tls);
    makeCertificate(join(directory, 'tls'));
  }
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configFor(directory, options));
  const errors = join(directory, 'error.log');
  const command = [binaryOf('nginx', 'nginx'), '-p', directory, '-c', file, '-e', errors];
  return { directory, command };
}

function makeCertificate(directory: string): void {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', join(directory, 'privkey.pem')];
  const { exitCode, stderr } = Bun.spawnSync(
    [
      ...[binaryOf('openssl', 'openssl'), 'req', '-x509', '-subj', '/CN=localhost', '-days', '2'],
      ...[...key, '-out', join(directory, 'fullchain.pem')],
    ],
    { stderr: 'pipe' },
  );
  if (exitCode !== 0) throw new Error(`no certificate: ${stderr}`);
}

/** What `nginx -t` says of the file, and whether it would start with it. */
export function checkNginx(options: NginxOptions): { ok: boolean; said: string } {
  const { directory, command } = prepare(options);
  try {
    const { exitCode, stderr } = Bun.spawnSync([...command, '-t'], { stderr: 'pipe' });
    return { ok: exitCode === 0, said: stderr.toString() };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const START_MS = 10_000;

/** Starts it in the foreground; it ends with this process at the latest. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { directory, command } = prepare(options);
  const child: Subprocess = Bun.spawn([...command, '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const unwatch = watchOver(child.pid, directory);
  const read = (name: string) => {
    try {
      return readFileSync(join(directory, name), 'utf8');
    } catch {
      return '';
    }
  };
  const stop = async () => {
    child.kill('SIGTERM');
    await child.exited;
    unwatch();
    rmSync(directory, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${options.port}`;
  const giveUpMs = performance.now() + START_MS;
  while (
    !(await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > giveUpMs) {
      const said = read('error.log');
      await stop();
      throw new Error(`nginx did not start: ${said}`);
    }
    await Bun.sleep(10);
  }
  return {
    url,
    errorLog: () => read('error.log'),
    accessLog: () =>
      read('access.log')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    stop,
  };
}

/** Starts it on a free port. */
export async function startNginxOnFreePort(options: Omit<NginxOptions, 'port'>): Promise<Nginx> {
  return startNginx({ ...options, port: await freePort() });
}
