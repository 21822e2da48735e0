// Linux schedules sessions by the `autogroup` of each, where the nice value of a process has no effect on
// other sessions. Only the first process of a session sets it: the session of the caller must keep its priority.
const LOWER_PRIORITY = [
  'renice -n 10 -p $$',
  'read -r _ _ _ _ _ session _ </proc/self/stat',
  '[ "$session" = $$ ] && echo 10 >/proc/self/autogroup',
];

// Where the shell has no `ulimit -d`, the program runs without a limit.
const scriptOf = (steps: readonly string[]) =>
  `ulimit -d "$0" 2>/dev/null; { ${steps.join('; ')}; } >/dev/null 2>&1; exec "$@"`;

const END_FIRST = 'echo 1000 >/proc/self/oom_score_adj';
const LIMIT_SCRIPT = scriptOf([END_FIRST, ...LOWER_PRIORITY]);
const MEMORY_SCRIPT = scriptOf([END_FIRST]);

/** Exit codes of a shell for a missing or invalid program. */
export const CANNOT_RUN_EXIT_CODES: ReadonlySet<number | null> = new Set([126, 127]);

/**
 * Wraps a command with a memory limit, so that a malicious source ends ffmpeg or ffprobe and nothing
 * else, and with a low priority, so that sources that overload the machine do not delay the feed. Without
 * memory, the kernel ends it before the service.
 * Limits the address space for data, of which programs reserve more than they use.
 * @returns program and arguments for `spawn`, which needs the option `detached`
 */
export function withProcessLimits(
  memoryBytes: number,
  command: readonly string[],
): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', LIMIT_SCRIPT, String(Math.floor(memoryBytes / 1024)), ...command]];
}

/** As `withProcessLimits`, with the priority of the service: for what passes bytes on in real time. */
export function withMemoryLimit(
  memoryBytes: number,
  command: readonly string[],
): [program: string, args: string[]] {
  return ['/bin/sh', ['-c', MEMORY_SCRIPT, String(Math.floor(memoryBytes / 1024)), ...command]];
}
