import { chownSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { Client } from 'pg';
import { freePort } from './free-port.ts';
import { binaryOf, unprivileged } from './server-programs.ts';
import { startWatchdog } from './watchdog.ts';

/** A private PostgreSQL server for tests. */
export interface PostgresServer {
  /** URL of a database on it, with the superuser's credentials. */
  readonly url: string;
  readonly port: number;
  /** Directory of its files; with TLS its certificate is `data/server.crt`. */
  readonly directory: string;
  /** Process id of the postmaster; 0 while the server is down. */
  readonly pid: number;
  /** Creates an empty database. @returns its URL */
  createDatabase(name: string): Promise<string>;
  /** Shuts down in order; `start` starts it again. */
  halt(): Promise<void>;
  /** Kills all its processes, like a crash of the machine that keeps the disk. */
  kill9(): Promise<void>;
  /** Starts again after `halt` or `kill9`, on the same port and directory. */
  start(): Promise<void>;
  /** Stops all its processes (SIGSTOP): connections stay open and nothing responds. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its directory. */
  stop(): Promise<void>;
}

interface PostgresOptions {
  /** `false` is faster; commits survive `kill -9`, but not a power failure (default true). */
  readonly fsync?: boolean;
  /** Maximum number of connections (default 100). */
  readonly maxConnections?: number;
  /** The address it listens on (default 127.0.0.1). */
  readonly listen?: string;
  /** Accepts only TLS connections, with a self-signed certificate (default false). */
  readonly tls?: boolean;
}

/** Name and password of the superuser. */
const USER = 'fourbeat';
const PASSWORD = 'Beat-4-per-second';
const START_TIMEOUT_MS = 20_000;
/** A folder for all processes of `npm test`: initdb takes a second of a core, a copy of its result 50 ms. */
const CACHE = Bun.env.TEST_CACHE;
const PORT_TRIES = 5;

/**
 * Starts a private PostgreSQL on a free port, in a temporary directory. When the tests run as root, it
 * runs as another user, because PostgreSQL refuses to run as root. It ends with the process that
 * started it, however that process ends.
 * @throws Error with the command that installs PostgreSQL when it is not there
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-postgres-'));
  try {
    const user = unprivileged('postgres');
    if (user) chownSync(directory, user.uid, user.gid);
    await initialize(directory, options.tls ?? false);
    for (let attempt = 1; ; attempt++) {
      const server = new Postgres(directory, await freePort(), options);
      try {
        await server.start();
        return server;
      } catch (error) {
        if (attempt === PORT_TRIES || !/Address already in use/.test(String(error))) throw error;
      }
    }
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

/** Creates the data directory. Under `npm test` only the first test file runs initdb. */
async function initialize(directory: string, tls: boolean): Promise<void> {
  const data = join(directory, 'data');
  const template = CACHE === undefined ? null : join(CACHE, 'postgres-data');
  if (template !== null && existsSync(template)) {
    await copyFolder(template, data);
  } else {
    await runInitdb(directory);
    if (template !== null) await shareTemplate(data, template);
  }
  const kind = tls ? 'hostssl' : 'host';
  await Bun.write(
    join(data, 'pg_hba.conf'),
    `${kind} all all 0.0.0.0/0 scram-sha-256\n${kind} all all ::/0 scram-sha-256\n`,
  );
  if (tls) await makeCertificate(directory);
}

/** Copies the directory for other processes, unless another process did meanwhile. */
async function shareTemplate(data: string, template: string): Promise<void> {
  const copy = `${template}-${process.pid}`;
  await copyFolder(data, copy);
  try {
    renameSync(copy, template);
  } catch {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyFolder(from: string, to: string): Promise<void> {
  return run(['cp', '-a', from, to]);
}

async function runInitdb(directory: string): Promise<void> {
  await Bun.write(join(directory, 'password'), PASSWORD);
  const command = [
    ...(unprivileged('postgres')?.command ?? []),
    ...[binaryOf('initdb'), `--pgdata=${join(directory, 'data')}`, `--username=${USER}`],
    ...[`--pwfile=${join(directory, 'password')}`, '--auth=scram-sha-256'],
    ...['--encoding=UTF8', '--locale=C', '--no-sync'],
  ];
  await run(command, directory);
}

async function makeCertificate(directory: string): Promise<void> {
  await run([
    ...(unprivileged('postgres')?.command ?? []),
    binaryOf('openssl', 'openssl'),
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1'],
    ...['-keyout', join(directory, 'data', 'server.key')],
    ...['-out', join(directory, 'data', 'server.crt')],
  ]);
}

/** @throws Error with the error output of the command when it fails */
async function run(command: string[], cwd = tmpdir()): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: 'ignore', stderr: 'pipe' });
  const errorOutput = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${errorOutput}`);
}

class Postgres implements PostgresServer {
  readonly url: string;
  private child: Subprocess | null = null;
  private paused: number[] = [];
  private unwatch = () => {};

  constructor(
    readonly directory: string,
    readonly port: number,
    private readonly options: PostgresOptions,
  ) {
    this.url = this.urlOf('postgres');
  }

  get pid(): number {
    return this.child?.exitCode === null && !this.child.killed ? this.child.pid : 0;
  }

  private urlOf(database: string): string {
    const { listen = '127.0.0.1', tls = false } = this.options;
    const url = `postgres://${USER}:${PASSWORD}@${listen}:${this.port}/${database}`;
    return tls ? `${url}?sslmode=require&uselibpqcompat=true` : url;
  }

  async createDatabase(name: string): Promise<string> {
    const client = new Client({ connectionString: this.url });
    await client.connect();
    try {
      await client.query(`create database "${name}"`);
    } finally {
      await client.end();
    }
    return this.urlOf(name);
  }

  async start(): Promise<void> {
    const data = join(this.directory, 'data');
    const log = Bun.file(join(this.directory, 'log'));
    this.child = Bun.spawn(
      [
        ...(unprivileged('postgres')?.command ?? []),
        binaryOf('postgres'),
        '-D',
        data,
        ...this.settings().flatMap((setting) => ['-c', setting]),
      ],
      { cwd: this.directory, stdin: 'ignore', stdout: 'ignore', stderr: log },
    );
    this.watch(this.child.pid);
    const deadlineMs = performance.now() + START_TIMEOUT_MS;
    // The first line of this file is its process id, and the eighth is its state.
    const ready = new RegExp(`^${this.child.pid}\\n(?:.*\\n){6}ready`);
    while (!ready.test(readText(join(data, 'postmaster.pid')))) {
      if (this.pid === 0 || performance.now() > deadlineMs) {
        await this.kill9();
        throw new Error(`PostgreSQL did not start: ${await log.text()}`);
      }
      await Bun.sleep(10);
    }
  }

  private settings(): string[] {
    const { fsync = true, maxConnections = 100, listen = '127.0.0.1', tls = false } = this.options;
    return [
      `port=${this.port}`,
      `listen_addresses=${listen}`,
      `unix_socket_directories=${this.directory}`,
      `max_connections=${maxConnections}`,
      'shared_buffers=16MB',
      // In its own directory, so that no files are left in /dev/shm.
      'dynamic_shared_memory_type=mmap',
      'logging_collector=off',
      `ssl=${tls ? 'on' : 'off'}`,
      `fsync=${fsync ? 'on' : 'off'}`,
      // A killed process may leave a partially written page.
      'full_page_writes=on',
    ];
  }

  async halt(): Promise<void> {
    this.resume();
    if (this.pid === 0) return;
    // A fast shutdown: it ends transactions and leaves consistent files.
    this.child?.kill('SIGINT');
    await this.waitForEnd();
  }

  async kill9(): Promise<void> {
    if (!this.child) return;
    const children = childrenOf(this.child.pid);
    for (const pid of [this.child.pid, ...children]) sendSignal(pid, 'SIGKILL');
    await this.waitForEnd();
    // A new postmaster does not start while children are attached to the shared memory.
    while (children.some(isRunning)) await Bun.sleep(5);
  }

  private async waitForEnd(): Promise<void> {
    await this.child?.exited;
    this.child = null;
    this.paused = [];
    this.watch(0);
  }

  private watch(pid: number): void {
    this.unwatch();
    this.unwatch = startWatchdog(pid, this.directory);
  }

  pause(): void {
    if (this.pid === 0) return;
    // Stop the postmaster first, so that it starts no more children.
    sendSignal(this.pid, 'SIGSTOP');
    const children = childrenOf(this.pid);
    for (const pid of children) sendSignal(pid, 'SIGSTOP');
    this.paused = [...children, this.pid];
  }

  resume(): void {
    for (const pid of this.paused) sendSignal(pid, 'SIGCONT');
    this.paused = [];
  }

  async stop(): Promise<void> {
    this.resume();
    if (this.pid !== 0) {
      this.child?.kill('SIGQUIT');
      await this.waitForEnd();
    }
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    this.unwatch();
  }
}

function childrenOf(pid: number): number[] {
  const text = readText(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').filter(Boolean).map(Number);
}

function isRunning(pid: number): boolean {
  const stat = readText(`/proc/${pid}/stat`);
  return stat !== '' && !/\) Z /.test(stat);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
