import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import type { Subprocess } from 'bun';

/** The core of the measured server. */
export const SERVER_CORE = 0;
/** The core of the program that sends the load. */
export const LOAD_CORE = 1;

const TICKS_PER_S = 100;
const NS_PER_S = 1e9;
const KB = 1024;
const STOP_MS = 5_000;
const GONE_MS = 1_000;
const POLL_MS = 10;

/** A program that runs on one core. */
export interface Pinned {
  readonly pid: number;
  readonly child: Subprocess<'ignore', 'pipe', 'inherit'>;
  /** CPU time since the start, and current memory, of the program and its descendants. */
  usage(): Usage;
  /** Ends the program with SIGTERM, then with SIGKILL. */
  stop(): Promise<void>;
}

export interface Usage {
  readonly cpuS: number;
  /** The part in the kernel, with a resolution of 10 ms. */
  readonly kernelS: number;
  readonly memoryBytes: number;
}

interface PinnedOptions {
  readonly env?: Record<string, string>;
  /** The working directory. */
  readonly cwd?: string;
}

const running = new Set<Subprocess>();
process.on('exit', () => {
  const members = [...running].flatMap(({ pid }) => endFamily(pid));
  // Wait until they have ended, since they could write to folders that are removed.
  const endMs = performance.now() + GONE_MS;
  while (members.some(isAlive) && performance.now() < endMs) Bun.sleepSync(POLL_MS);
});

// A server such as nginx has child processes, which survive when it is killed.
function endFamily(pid: number): number[] {
  const members = familyOf(pid);
  for (const member of members) {
    try {
      process.kill(member, 'SIGKILL');
    } catch {
      // It had already ended.
    }
  }
  return members;
}

const isAlive = (pid: number) => /\) [^ZX]/.test(textOf(`/proc/${pid}/stat`));

/** Starts a program on one core. @throws Error when the machine has too few cores */
export function startPinned(
  core: number,
  command: readonly string[],
  { env = {}, cwd = tmpdir() }: PinnedOptions = {},
): Pinned {
  if (availableParallelism() < 2) {
    throw new Error('A benchmark needs two cores: one for the server and one for the load.');
  }
  const child = Bun.spawn(['taskset', '-c', String(core), ...command], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  return {
    pid: child.pid,
    child,
    usage: () => usageOfFamily(child.pid),
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => endFamily(child.pid), STOP_MS);
      await child.exited;
      clearTimeout(timer);
    },
  };
}

/**
 * Waits until standard output matches, for example until the program prints its url. Each call searches
 * after the match of the previous one.
 * @throws Error when the program ends without a match
 */
export function waitForOutput(pinned: Pinned, pattern: RegExp): Promise<RegExpExecArray> {
  const output = outputs.get(pinned) ?? new Output(pinned.child.stdout);
  outputs.set(pinned, output);
  return output.until(pattern);
}

const outputs = new WeakMap<Pinned, Output>();
const UNREAD_CHARS_MAX = 1_000_000;

/** The output of a program, which is read to the end so that the pipe does not block. */
class Output {
  private text = '';
  private hasEnded = false;
  private onMore = () => {};

  constructor(stream: ReadableStream<Uint8Array>) {
    void this.readAll(stream.getReader());
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) {
        this.text = this.text.slice(found.index + found[0].length);
        return found;
      }
      if (this.hasEnded) throw new Error(`The program ended without ${pattern}: ${this.text}`);
      await new Promise<void>((resolve) => {
        this.onMore = resolve;
      });
    }
  }

  // Without `for await`: leaving the loop would close the pipe and end the program.
  private async readAll(reader: {
    read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  }): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      this.text = (this.text + decoder.decode(value, { stream: true })).slice(-UNREAD_CHARS_MAX);
      this.onMore();
    }
    this.hasEnded = true;
    this.onMore();
  }
}

/** Usage of a process and its descendants. */
export function usageOfFamily(pid: number): Usage {
  return usageOf(familyOf(pid));
}

/** A process and its descendants. */
function familyOf(pid: number): number[] {
  const children = tasksOf(pid).flatMap((task) =>
    textOf(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}

function usageOf(pids: readonly number[]): Usage {
  let [cpuS, kernelS, memoryBytes] = [0, 0, 0];
  for (const pid of pids) {
    // The program name may contain blanks, so fields are counted after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const [user, kernel] = [Number(fields[11]) / TICKS_PER_S, Number(fields[12]) / TICKS_PER_S];
    kernelS += kernel;
    // `schedstat` has ns, but omits ended threads; the ticks include them.
    cpuS += Math.max(user + kernel, scheduledS(pid));
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    memoryBytes += Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * KB;
  }
  return { cpuS, kernelS, memoryBytes };
}

function scheduledS(pid: number): number {
  let ns = 0;
  for (const task of tasksOf(pid)) {
    // Some kernels lack this file.
    ns += Number(textOf(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]);
  }
  return ns / NS_PER_S;
}

function tasksOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The text of a file; empty when it does not exist, as for a thread that has just ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
