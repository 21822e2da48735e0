import { PROXY_VARIABLES, programEnvironment } from '../../platform/program-environment.ts';
import { runtime } from '../../platform/runtime.ts';

/** A running ffmpeg or ffprobe. */
export interface MediaProcess {
  readonly output: ReadableStream<Uint8Array>;
  /**
   * Writes to its standard input.
   * @returns fulfilled when the input was flushed; false when the process accepts no more
   */
  write(pieces: readonly Uint8Array[]): Promise<boolean>;
  /** Sends SIGTERM, then SIGKILL if it does not exit. */
  stop(): Promise<void>;
  readonly exited: Promise<ProcessExit>;
}

export interface ProcessExit {
  /** Exit status; 128 or more after a signal. */
  readonly status: number;
  /** Last line of its standard error; may be empty. */
  readonly lastErrorLine: string;
}

// ffmpeg completes its output after SIGTERM.
const KILL_TIMEOUT_MS = 2_000;
// Characters kept from the end of standard error.
const STDERR_TAIL_CHARS = 4_000;

/** Starts a program. @throws Error when it is not installed */
export function startProcess(program: string, args: readonly string[]): MediaProcess {
  const child = Bun.spawn([program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C must reach only this process, which then stops the child in order.
    detached: true,
    env: programEnvironment(PROXY_VARIABLES),
  });
  const lastErrorLine = lastLineOf(child.stderr);
  const exited = (async () => ({
    status: await child.exited,
    lastErrorLine: await lastErrorLine,
  }))();
  const { stdin } = child;
  let isOpen = true;
  void child.exited.then(() => {
    isOpen = false;
  });
  return {
    output: child.stdout,
    write: async (pieces) => {
      if (!isOpen) return false;
      try {
        for (const piece of pieces) void Promise.resolve(stdin.write(piece)).catch(() => {});
        await Promise.race([stdin.flush(), child.exited]);
      } catch {
        // The process has exited or is about to.
        return false;
      }
      return isOpen;
    },
    stop: async () => {
      // ffmpeg handles the signal only after a read of its input returns.
      void Promise.resolve(stdin.end()).catch(() => {});
      child.kill('SIGTERM');
      const killTimer = runtime.setTimeout(() => child.kill('SIGKILL'), KILL_TIMEOUT_MS);
      await child.exited;
      runtime.clearTimer(killTimer);
    },
    exited,
  };
}

/** Runs a program to its end. @returns its output @throws Error with its last error line */
export async function runForOutput(program: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: programEnvironment(PROXY_VARIABLES),
  });
  const [output, lastErrorLine] = await Promise.all([
    child.stdout.text(),
    lastLineOf(child.stderr),
  ]);
  if ((await child.exited) !== 0) throw new Error(lastErrorLine || `${program} failed`);
  return output;
}

async function lastLineOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-STDERR_TAIL_CHARS);
  }
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
