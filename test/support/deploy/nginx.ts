import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import { freePort } from '../backends/free-port.ts';
import { binaryOf } from '../backends/server-programs.ts';
import { startWatchdog } from '../backends/watchdog.ts';

export const COMPOSE = fileURLToPath(new URL('../../../deploy/compose/', import.meta.url));

export interface NginxOptions {
  /** The port to listen on instead of 8080. */
  readonly port: number;
  /** Ports of the nodes on 127.0.0.1, which replace the addresses in the configuration. */
  readonly nodes: readonly number[];
  /** Port of the media node (default: that of the first node). */
  readonly media?: number;
  /** Changes the configuration, for a test that shows what a change breaks. */
  readonly edit?: (config: string) => string;
  /** Text of tls/tls.conf, with `DIRECTORY` for the directory of the certificates. */
  readonly tls?: string;
}

/** A running nginx with the configuration of `deploy/`. */
export interface Nginx {
  readonly url: string;
  /** The access log, one object per line. */
  accessLog(): Record<string, unknown>[];
  errorLog(): string;
  stop(): Promise<void>;
}

/** The deployed configuration, with only ports, addresses and paths replaced. */
function configFor(directory: string, { port, nodes, media, edit }: NginxOptions): string {
  const portByAddress = new Map<string, number | undefined>();
  const replaced = readFileSync(`${COMPOSE}nginx/nginx.conf`, 'utf8')
    .replace('listen 8080 ', `listen 127.0.0.1:${port} `)
    .replace('server 10.42.50.21:4250', `server 127.0.0.1:${media ?? nodes[0]}`)
    .replace(/server (10\.42\.50\.\d+):4250/g, (_, address: string) => {
      if (!portByAddress.has(address)) portByAddress.set(address, nodes[portByAddress.size]);
      return `server 127.0.0.1:${portByAddress.get(address)}`;
    })
    .replaceAll('/tmp/', `${directory}/`)
    .replace('/etc/nginx/tls/', `${directory}/tls/`)
    .replace('/dev/stderr', `${directory}/error.log`)
    .replace('/dev/stdout', `${directory}/access.log`);
  if (portByAddress.size !== nodes.length)
    throw new Error(`the configuration has ${portByAddress.size} nodes, not ${nodes.length}`);
  return edit ? edit(replaced) : replaced;
}

/** Creates a directory with the configuration that the workers of an nginx of root can read. */
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
  if (exitCode !== 0) throw new Error(`openssl failed: ${stderr}`);
}

/** Checks a configuration with `nginx -t`. */
export function checkNginx(options: NginxOptions): { ok: boolean; output: string } {
  const { directory, command } = prepare(options);
  try {
    const { exitCode, stderr } = Bun.spawnSync([...command, '-t'], { stderr: 'pipe' });
    return { ok: exitCode === 0, output: stderr.toString() };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const START_TIMEOUT_MS = 10_000;

/**
 * Starts nginx; a watchdog ends it when this process ends.
 * @throws Error with its error log when it does not respond within 10 s
 */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { directory, command } = prepare(options);
  const child: Subprocess = Bun.spawn([...command, '-g', 'daemon off;'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  const unwatch = startWatchdog(child.pid, directory);
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
  const giveUpMs = performance.now() + START_TIMEOUT_MS;
  while (
    !(await fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null || performance.now() > giveUpMs) {
      const errors = read('error.log');
      await stop();
      throw new Error(`nginx did not start: ${errors}`);
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

export async function startNginxOnFreePort(options: Omit<NginxOptions, 'port'>): Promise<Nginx> {
  return startNginx({ ...options, port: await freePort() });
}
