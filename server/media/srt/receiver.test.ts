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

test('[M-17] a receiver runs with a lower priority than the service', async () => {
  expect(await outputOf('cut -d" " -f19 /proc/self/stat')).toBe('10\n');
});
