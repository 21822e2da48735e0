import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';

const PROGRAM = fileURLToPath(new URL('../../../bin/fourbeat', import.meta.url));

/** How a run of the program ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program as a person would, to its end. */
export async function fourbeat(args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const child = Bun.spawn([PROGRAM, ...args], { env: ownEnvironment(env), ...PIPES });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { status: await exitStatus(child), stdout, stderr };
}

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** What it had said on standard output by the time it listened. */
  readonly greeting: string;
  /** Milliseconds from its start until it listened. */
  readonly startMs: number;
  signal(signal: NodeJS.Signals): void;
  /** Its exit status; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Everything it has said on standard error by now. */
  log(): string;
}

const running = new Set<Subprocess>();

/**
 * Starts `fourbeat serve` on a free port; ends with the test file at the latest.
 * @param stderr file descriptor for its log, in place of `log`
 * @param within a program and its arguments that run it, as `ip netns exec name` does
 */
export async function serveProcess(
  args: string[],
  env: Record<string, string> = {},
  stderr: number | null = null,
  within: readonly string[] = [],
): Promise<ServerProcess> {
  const startedMs = performance.now();
  const serve = [PROGRAM, 'serve', '--port', '0', '--host', '127.0.0.1', ...args];
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
  const { url, greeting } = await greetingOf(child.stdout);
  if (url === undefined) throw new Error(`serve ended with ${await exited}: ${log}`);
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid,
    greeting,
    startMs: performance.now() - startedMs,
    signal: (signal) => child.kill(signal),
    exited,
    log: () => log,
  };
}

/** Ends every server that a test left running. For `afterAll`. */
export async function killServers(): Promise<void> {
  const left = [...running];
  for (const child of left) child.kill('SIGKILL');
  await Promise.all(left.map((child) => child.exited));
}

/** A folder for data directories, and how to be rid of it. */
export function temporaryFolder(): { path(name: string): string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'fourbeat-program-'));
  return {
    path: (name) => join(root, name),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

const PIPES = { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' } as const;

/** With this variable every server that tests start as a program has so many threads for viewers. */
const WORKERS = process.env.FOURBEAT_TEST_WORKERS;

/** Settings of the person who runs the tests must not reach the program. */
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

/** What a server prints when it listens, with its address; without one when it ends before. */
async function greetingOf(
  stdout: ReadableStream<Uint8Array>,
): Promise<{ greeting: string; url?: string }> {
  const decoder = new TextDecoder();
  let greeting = '';
  for await (const chunk of stdout) {
    greeting += decoder.decode(chunk, { stream: true });
    const url = /^Fourbeat is listening on (\S+) /m.exec(greeting)?.[1];
    if (url !== undefined) return { greeting, url };
  }
  return { greeting };
}
