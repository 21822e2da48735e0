import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { CANNOT_RUN_EXIT_CODES, withProcessLimits } from './process-limits.ts';

test('[M-16] a command runs with the memory limit and unchanged arguments', () => {
  const script = 'ulimit -d; printf "%s|" "$@"';
  const command = ['/bin/sh', '-c', script, 'name', 'two words', '$HOME', '"'];
  const { stdout } = spawnSync(...withProcessLimits(64 << 20, command));
  expect(stdout.toString()).toBe('65536\ntwo words|$HOME|"|');
});

test('[M-44] the exit code distinguishes a missing program from a failing one', () => {
  expect(
    CANNOT_RUN_EXIT_CODES.has(
      spawnSync(...withProcessLimits(1 << 30, ['/nonexistent/ffprobe'])).status,
    ),
  ).toBe(true);
  expect(
    CANNOT_RUN_EXIT_CODES.has(spawnSync(...withProcessLimits(1 << 30, ['/bin/false'])).status),
  ).toBe(false);
});

test('[M-17] a command runs with a lower priority than the service', () => {
  const priority = 'cut -d" " -f19 /proc/self/stat; cat /proc/self/autogroup 2>/dev/null';
  const command = withProcessLimits(1 << 30, ['/bin/sh', '-c', priority]);
  const { stdout } = spawnSync('setsid', ['--wait', command[0], ...command[1]]);
  const [nice, autogroup = 'nice 10'] = stdout.toString().trim().split('\n');
  expect(nice).toBe('10');
  expect(autogroup).toEndWith('nice 10');
});

test.skipIf(!existsSync('/proc/self/autogroup'))(
  '[M-17] a command without a session of its own leaves the priority of its caller',
  () => {
    const script = 'cat /proc/self/autogroup; "$@"; cat /proc/self/autogroup';
    const command = withProcessLimits(1 << 30, ['/bin/true']);
    const args = ['--wait', '/bin/sh', '-c', script, 'sh', command[0], ...command[1]];
    const [before, after] = spawnSync('setsid', args).stdout.toString().trim().split('\n');
    expect(before).toEndWith('nice 0');
    expect(after).toBe(before as string);
  },
);

test.skipIf(!existsSync('/proc/self/oom_score_adj'))(
  '[M-16] without memory, the kernel ends a command and not the service',
  () => {
    const command = ['/bin/cat', '/proc/self/oom_score_adj'];
    const { stdout } = spawnSync(...withProcessLimits(1 << 30, command));
    expect(stdout.toString()).toBe('1000\n');
  },
);
