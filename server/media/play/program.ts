/** A program that runs: ffmpeg. */
export interface RunningProgram {
  readonly output: ReadableStream<Uint8Array>;
  /**
   * Writes pieces to its input.
   * @returns fulfilled when it has taken them; false when it takes no more
   */
  write(pieces: readonly Uint8Array[]): Promise<boolean>;
  /** Asks it to end, and kills it when it does not. */
  stop(): Promise<void>;
  readonly exited: Promise<ProgramExit>;
}

/** How a program ended. */
export interface ProgramExit {
  /** 128 and more after a signal. */
  readonly status: number;
  /** The last line that it complained with; may be empty. */
  readonly complaint: string;
}

// ffmpeg writes the end of its output when it is asked to end.
const STOP_MS = 2_000;
// Of what it complains with, the end is kept.
const COMPLAINT_CHARS = 4_000;

/** Starts a program. @throws Error when there is none of this name */
export function startProgram(program: string, args: readonly string[]): RunningProgram {
  const child = Bun.spawn([program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C is for us alone: it ends in order then.
    detached: true,
  });
  const complaint = endOf(child.stderr);
  const exited = (async () => ({ status: await child.exited, complaint: await complaint }))();
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
        // It is gone, or about to be.
        return false;
      }
      return isOpen;
    },
    stop: async () => {
      // One that waits for input does not hear the signal.
      void Promise.resolve(stdin.end()).catch(() => {});
      child.kill('SIGTERM');
      const tooLong = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await child.exited;
      clearTimeout(tooLong);
    },
    exited,
  };
}

/** Runs a program to its end. @returns its output @throws Error with a line, when it failed */
export async function outputOf(program: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn([program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const [output, complaint] = await Promise.all([child.stdout.text(), endOf(child.stderr)]);
  if ((await child.exited) !== 0) throw new Error(complaint || `${program} failed`);
  return output;
}

async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text = (text + decoder.decode(chunk, { stream: true })).slice(-COMPLAINT_CHARS);
  }
  return text.trim().split('\n').at(-1)?.trim() ?? '';
}
