import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

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
const PORT_TRIES = 20;
// Below the ports that the system gives to outgoing connections: a restart finds its port free.
// The bus of a cluster is 10,000 above.
const FIRST_PORT = 10_000;
const PORTS = 12_000;

/** Starts a private server; `stop` it in `afterAll` or `finally`. It never outlives this process. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-redis-'));
  const binary = options.binary ?? redisBinary();
  let port = 0;
  let process: Bun.Subprocess;

  const logFile = () => join(directory, `${port}.log`);
  const spawn = () => {
    const fixed = [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
      ...['--save', '', '--logfile', logFile(), '--daemonize', 'no'],
      ...['--appendonly', options.persistence === false ? 'no' : 'yes'],
      ...['--appendfsync', 'everysec'],
    ];
    const further = (options.settings ?? []).flatMap(([name, ...rest]) => [`--${name}`, ...rest]);
    return Bun.spawn([...boundToThisProcess(), binary, ...fixed, ...further], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
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
    if (await answers(port, process)) break;
    const log = readLog(logFile());
    await kill();
    if (tries === PORT_TRIES || !log.includes('Address already in use')) {
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
      if (await answers(port, process)) return;
      throw new Error(`${binary} did not start again: ${readLog(logFile())}`);
    },
    pause: () => process.kill('SIGSTOP'),
    resume: () => process.kill('SIGCONT'),
    stop,
  };
}

/** One command to the server on a port of this machine, on a connection of its own. */
export async function redisCommand(port: number, ...words: (string | number)[]): Promise<unknown> {
  const [name = 'PING', ...rest] = words;
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(String(name), ...rest);
  } finally {
    client.disconnect();
  }
}

/** The program to test with. @throws Error that says how to get one */
export function redisBinary(): string {
  const chosen = Bun.env.FOURBEAT_TEST_REDIS;
  const found = chosen
    ? Bun.which(chosen)
    : (Bun.which('redis-server') ?? Bun.which('valkey-server'));
  if (found) return found;
  throw new Error(
    chosen
      ? `FOURBEAT_TEST_REDIS=${chosen} cannot be run`
      : 'tests need redis-server or valkey-server; on Debian and Ubuntu: ' +
          'sudo apt-get install -y redis-server',
  );
}

/** The kernel ends what this starts together with this process, however that ends. */
function boundToThisProcess(): string[] {
  const setpriv = Bun.which('setpriv');
  return setpriv ? [setpriv, '--pdeathsig', 'KILL', '--'] : [];
}

async function answers(port: number, process: Bun.Subprocess): Promise<boolean> {
  const giveUpMs = performance.now() + READY_MAX_MS;
  while (performance.now() < giveUpMs && process.exitCode === null && !process.killed) {
    const reply = await redisCommand(port, 'INFO', 'server').catch(() => null);
    // Another's server may have the port.
    if (typeof reply === 'string' && reply.includes(`process_id:${process.pid}\r`)) return true;
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
