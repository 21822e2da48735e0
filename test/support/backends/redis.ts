import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisBinary, redisCommand } from './redis-program.ts';

export interface RedisServerOptions {
  /** False: data is lost when the server ends. Default: an append-only file, synced each second. */
  readonly persistence?: boolean;
  /** Further settings, as in `redis.conf`: `['maxmemory', '4mb']`. */
  readonly settings?: readonly (readonly string[])[];
  /** The program; by default FOURBEAT_TEST_REDIS, or the one in PATH. */
  readonly binary?: string;
}

/** A private server on 127.0.0.1 that a test may kill, pause and restart. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Id of the current process. */
  readonly pid: number;
  /** Sends one command on a separate connection. @throws Error with an error reply */
  command(...words: (string | number)[]): Promise<unknown>;
  /** Kills it; its files stay. */
  kill9(): Promise<void>;
  /** Starts it again with its port and files; kills it first if it runs. */
  restart(): Promise<void>;
  /** Stops it (SIGSTOP): it does not respond, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

const READY_MAX_MS = 10_000;
const POLL_MS = 5;
const READY = 'Ready to accept connections';
const PORT_TRIES = 20;
// The range is below the ephemeral ports, so that the port is still free after a restart. The cluster bus uses the port
// plus 10,000.
const FIRST_PORT = 10_000;
const PORT_COUNT = 12_000;

/** Starts a private server; `stop` it in `afterAll` or `finally`. It never outlives this process. */
export function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  return startProgram(options.binary ?? redisBinary(), (directory) => [
    ...['--bind', '127.0.0.1', '--dir', directory, '--daemonize', 'no', '--save', ''],
    ...['--appendonly', options.persistence === false ? 'no' : 'yes'],
    ...['--appendfsync', 'everysec'],
    ...(options.settings ?? []).flatMap(([name, ...values]) => [`--${name}`, ...values]),
  ]);
}

/** Starts a private Sentinel. @param settings lines of its configuration file */
export function startSentinel(settings: readonly string[], binary?: string): Promise<RedisServer> {
  return startProgram(binary ?? redisBinary(), (directory) => {
    const file = join(directory, 'sentinel.conf');
    writeFileSync(file, ['bind 127.0.0.1', `dir ${directory}`, ...settings, ''].join('\n'));
    return [file, '--sentinel'];
  });
}

const FREE_BYTES_MIN = 256 * 1024 * 1024;

// The files are in memory if there is room: cluster members block while they write their state, and a
// busy disk can take longer than the node timeout.
function rootDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > FREE_BYTES_MIN ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** @param argumentsIn arguments for a directory, besides port and log */
async function startProgram(
  binary: string,
  argumentsIn: (directory: string) => string[],
): Promise<RedisServer> {
  const directory = mkdtempSync(join(rootDirectory(), 'fourbeat-redis-'));
  const logFile = join(directory, 'log');
  let port = 0;
  let process: Bun.Subprocess;

  const spawn = () => {
    const portAndLog = ['--port', String(port), '--logfile', logFile];
    const program = [...boundToThisProcess(), binary, ...argumentsIn(directory), ...portAndLog];
    return Bun.spawn(program, { stdio: ['ignore', 'ignore', 'ignore'] });
  };
  const kill = async () => {
    process.kill('SIGKILL');
    await process.exited;
  };
  const stop = async () => {
    await kill();
    rmSync(directory, { recursive: true, force: true });
  };

  for (let tries = 1; ; tries += 1) {
    port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    process = spawn();
    if (await isReady(port, process, logFile)) break;
    const log = readLog(logFile);
    rmSync(logFile, { force: true });
    await kill();
    if (tries === PORT_TRIES || !/in use/i.test(log)) {
      await stop();
      throw new Error(`${binary} did not start: ${log}`);
    }
  }

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return process.pid;
    },
    command: (...words) => redisCommand(port, ...words),
    kill9: kill,
    async restart() {
      await kill();
      process = spawn();
      if (await isReady(port, process, logFile)) return;
      throw new Error(`${binary} did not start again: ${readLog(logFile)}`);
    },
    pause: () => process.kill('SIGSTOP'),
    resume: () => process.kill('SIGCONT'),
    stop,
  };
}

/** A command prefix with which the kernel kills the program when this process ends. */
function boundToThisProcess(): string[] {
  const setpriv = Bun.which('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

async function isReady(port: number, process: Bun.Subprocess, logFile: string): Promise<boolean> {
  const deadlineMs = performance.now() + READY_MAX_MS;
  while (
    performance.now() < deadlineMs &&
    process.exitCode === null &&
    process.signalCode === null
  ) {
    const reply = String(await redisCommand(port, 'INFO').catch((error: Error) => error.message));
    // The port may belong to another server, and a server that loads its file refuses other commands.
    const isLoading = reply.includes('\nloading:1');
    if (reply.includes(`process_id:${process.pid}\r`) && !isLoading) return true;
    if (reply.startsWith('NOAUTH') && readLog(logFile).includes(READY)) return true;
    await Bun.sleep(POLL_MS);
  }
  return false;
}

function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '(no log)';
  }
}
