import { mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisBinary, redisCommand } from './redis-program.ts';

export interface RedisServerOptions {
  /** False: what it holds is lost when it ends. Else in its append-only file, synced each second. */
  readonly persistence?: boolean;
  /** Further settings, as in `redis.conf`: `['maxmemory', '4mb']`. */
  readonly settings?: readonly (readonly string[])[];
  /** The program; else the variable FOURBEAT_TEST_REDIS, else what is in PATH. */
  readonly binary?: string;
}

/** A private server on 127.0.0.1 that a test may ill-treat. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Of the process that runs now. */
  readonly pid: number;
  /** One command on a connection of its own; throws what the server answers with an error. */
  command(...words: (string | number)[]): Promise<unknown>;
  /** As a crash of the machine would; its files stay. */
  kill9(): Promise<void>;
  /** Starts it again on its port and files, after `kill9`; or ends it first. */
  restart(): Promise<void>;
  /** It answers nothing more, and its connections stay open. */
  pause(): void;
  resume(): void;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

const READY_MAX_MS = 10_000;
const LOOK_MS = 5;
const READY = 'Ready to accept connections';
const PORT_TRIES = 20;
// Below the ports that the system gives to outgoing connections: a restart finds its port free.
// The bus of a cluster is 10,000 above.
const FIRST_PORT = 10_000;
const PORTS = 12_000;

/** Starts a private server; `stop` it in `afterAll` or `finally`. It never outlives this process. */
export function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  return startProgram(options.binary ?? redisBinary(), (directory) => [
    ...['--bind', '127.0.0.1', '--dir', directory, '--daemonize', 'no', '--save', ''],
    ...['--appendonly', options.persistence === false ? 'no' : 'yes'],
    ...['--appendfsync', 'everysec'],
    ...(options.settings ?? []).flatMap(([name, ...values]) => [`--${name}`, ...values]),
  ]);
}

/** Starts a private Sentinel with these settings; it writes them to its own file. */
export function startSentinel(settings: readonly string[], binary?: string): Promise<RedisServer> {
  return startProgram(binary ?? redisBinary(), (directory) => {
    const file = join(directory, 'sentinel.conf');
    writeFileSync(file, ['bind 127.0.0.1', `dir ${directory}`, ...settings, ''].join('\n'));
    return [file, '--sentinel'];
  });
}

const ROOM_BYTES = 256 * 1024 * 1024;

// In memory where there is room: members of a cluster stand still while they write down what they
// know of it, and a disk that others use takes longer for that than they wait for each other.
function rootDirectory(): string {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize > ROOM_BYTES ? '/dev/shm' : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** @param argumentsIn the program's, besides its port and log, in the directory that it is given */
async function startProgram(
  binary: string,
  argumentsIn: (directory: string) => string[],
): Promise<RedisServer> {
  const directory = mkdtempSync(join(rootDirectory(), 'fourbeat-redis-'));
  const logFile = join(directory, 'log');
  let port = 0;
  let process: Bun.Subprocess;

  const spawn = () => {
    const own = ['--port', String(port), '--logfile', logFile];
    const program = [...boundToThisProcess(), binary, ...argumentsIn(directory), ...own];
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
    port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    process = spawn();
    if (await answers(port, process, logFile)) break;
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
      if (await answers(port, process, logFile)) return;
      throw new Error(`${binary} did not start again: ${readLog(logFile)}`);
    },
    pause: () => process.kill('SIGSTOP'),
    resume: () => process.kill('SIGCONT'),
    stop,
  };
}

/** The kernel ends what this starts together with this process, however that ends. */
function boundToThisProcess(): string[] {
  const setpriv = Bun.which('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

async function answers(port: number, process: Bun.Subprocess, logFile: string): Promise<boolean> {
  const giveUpMs = performance.now() + READY_MAX_MS;
  while (performance.now() < giveUpMs && process.exitCode === null && process.signalCode === null) {
    const reply = await redisCommand(port, 'INFO', 'server').catch((error: Error) => error.message);
    // Another's server may have the port.
    if (String(reply).includes(`process_id:${process.pid}\r`)) return true;
    if (String(reply).startsWith('NOAUTH') && readLog(logFile).includes(READY)) return true;
    await Bun.sleep(LOOK_MS);
  }
  return false;
}

function readLog(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'it wrote no log';
  }
}
