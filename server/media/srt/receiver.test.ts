import { afterAll, expect, test } from 'bun:test';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Receiver } from './receiver.ts';

const folder = await mkdtemp(join(tmpdir(), 'receiver-'));
afterAll(() => rm(folder, { recursive: true }));

/** @returns the output of a receiver whose program is this script */
async function outputOf(script: string): Promise<string> {
  const program = join(folder, 'receiver');
  await Bun.write(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let output = '';
  new Receiver(program, 1, {
    onBytes: (bytes) => {
      output += new TextDecoder().decode(bytes);
      return undefined;
    },
    onEnd: () => resolve(),
  });
  await ended;
  return output;
}

test('[M-16] what a sender asks of a receiver is limited to 512 MB', async () => {
  expect(await outputOf('ulimit -d')).toBe(`${512 << 10}\n`);
});

test('[M-16] without memory, the kernel ends a receiver and not the service', async () => {
  expect(await outputOf('cat /proc/self/oom_score_adj')).toBe('1000\n');
});
