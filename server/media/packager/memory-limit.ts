// Where a shell knows no such limit, the program runs without.
const LIMIT_SCRIPT = 'ulimit -d "$0" 2>/dev/null; exec "$@"';

/** What a shell says of a program that is not there, or is none. */
export const CANNOT_RUN_EXIT_CODES: ReadonlySet<number | null> = new Set([126, 127]);

/**
 * A program that may take so much memory: what a source makes ffmpeg or ffprobe take must end that
 * program and nothing else. It is address space for data, of which they take more than they use.
 *
 * @returns a program and its arguments, for `spawn`
 */
export function withMemoryLimit(
  memoryBytes: number,
  command: readonly string[],
): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', LIMIT_SCRIPT, String(Math.floor(memoryBytes / 1024)), ...command]];
}
