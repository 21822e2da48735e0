import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { CANNOT_RUN_EXIT_CODES, withMemoryLimit } from './memory-limit.ts';

test('[M-16] a command runs with the memory limit and unchanged arguments', () => {
  const script = 'ulimit -d; printf "%s|" "$@"';
  const command = ['/bin/sh', '-c', script, 'name', 'two words', '$HOME', '"'];
  const { stdout } = spawnSync(...withMemoryLimit(64 << 20, command));
  expect(stdout.toString()).toBe('65536\ntwo words|$HOME|"|');
});

test('[M-44] the exit code distinguishes a missing program from a failing one', () => {
  expect(
    CANNOT_RUN_EXIT_CODES.has(
      spawnSync(...withMemoryLimit(1 << 30, ['/nonexistent/ffprobe'])).status,
    ),
  ).toBe(true);
  expect(
    CANNOT_RUN_EXIT_CODES.has(spawnSync(...withMemoryLimit(1 << 30, ['/bin/false'])).status),
  ).toBe(false);
});
