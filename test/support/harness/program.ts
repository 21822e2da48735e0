import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';

const PROGRAM = fileURLToPath(new URL('../../../bin/fourbeat', import.meta.url));

export interface ProgramResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
export async function fourbeat(
  args: string[],
  env: Record<string, string> = {},
): Promise<ProgramResult> {
  const child = Bun.spawn([PROGRAM, ...args], { env: ownEnvironment(env), ...PIPES });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await exitStatus(child), stdout, stderr };
}

export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Its standard output up to the line with its address. */
  readonly startupOutput: string;
  /** Duration of its start, in ms. */
  readonly startMs: number;
  signal(signal: NodeJS.Signals): void;
  /** Its exit status; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Its standard error so far. */
  log(): string;
}

const running = new Set<Subprocess>();

/**
 * Starts `fourbeat serve` on a free port; `killServers` ends it.
 * @param stderr file descriptor for its log, instead of `log()`
 * @param within a command that runs it, such as `ip netns exec name`
 * @param program that of this repository by default
 */
export async function serveProcess(
  args: string[],
  env: Record<string, string> = {},
  stderr: number | null = null,
  within: readonly string[] = [],
  program = PROGRAM,
): Promise<ServerProcess> {
  const startedMs = performance.now();
  const serve = [program, 'serve', '--port', '0', '--host', '127.0.0.1', ...args];
  const child = Bun.spawn([...within, ...serve], {
    env: ownEnvironment(env),
    ...PIPES,
    stderr: stderr ?? 'pipe',
  });
  running.add(child);
  let log = '';
  const logged = (async () => {
    if (!(child.stderr instanceof ReadableStream)) return;
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  const exited = Promise.all([exitStatus(child), logged]).then(([status]) => {
    running.delete(child);
    return status;
  });
  const { url, startupOutput } = await readStartupOutput(child.stdout);
  if (url === undefined) throw new Error(`serve ended with ${await exited}: ${log}`);
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    startupOutput,
    startMs: performance.now() - startedMs,
    signal: (signal) => child.kill(signal),
    exited,
    log: () => log,
  };
}

/** Kills all servers that still run. For `afterAll`. */
export async function killServers(): Promise<void> {
  const children = [...running];
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => child.exited));
}

/** A temporary folder for data directories. */
export function temporaryFolder(): { path(name: string): string; remove(): void } & Disposable {
  const root = mkdtempSync(join(tmpdir(), 'fourbeat-program-'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  return { path: (name) => join(root, name), remove, [Symbol.dispose]: remove };
}

const PIPES = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const;

/** Number of worker threads of every server process in tests. */
const WORKERS = process.env.FOURBEAT_TEST_WORKERS;

/** The environment without the settings of the person who runs the tests. */
function ownEnvironment(env: Record<string, string>): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('FOURBEAT_'));
  return {
    ...Object.fromEntries(others),
    ...(WORKERS && { FOURBEAT_WORKERS: WORKERS }),
    ...env,
  };
}

async function exitStatus(child: Subprocess): Promise<number | null> {
  await child.exited;
  return child.exitCode;
}

/** Reads standard output up to the server's address. @returns no `url` if the server ended first */
async function readStartupOutput(
  stdout: ReadableStream<Uint8Array>,
): Promise<{ startupOutput: string; url?: string }> {
  const decoder = new TextDecoder();
  let startupOutput = '';
  for await (const chunk of stdout) {
    startupOutput += decoder.decode(chunk, { stream: true });
    const url = /^Fourbeat is listening on (\S+) /m.exec(startupOutput)?.[1];
    if (url !== undefined) return { startupOutput, url };
  }
  return { startupOutput };
}
