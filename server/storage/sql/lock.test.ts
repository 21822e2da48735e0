import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDirectory } from './lock.ts';

const root = mkdtempSync(join(tmpdir(), 'fourbeat-lock-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const newDirectory = () => join(mkdtempSync(join(root, 'root-')), 'data');

test('[R-5] a directory is locked once, and the error names the process that holds the lock', () => {
  const directory = newDirectory();
  const lock = lockDirectory(directory);
  expect(() => lockDirectory(directory)).toThrow(
    `${directory} is in use by another Fourbeat server (process ${process.pid})`,
  );
  lock.release();
  lockDirectory(directory).release();
});

test('[R-6] the lock is released when its process ends, however it ends', async () => {
  const directory = newDirectory();
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `const { lockDirectory } = await import(${JSON.stringify(
        new URL('./lock.ts', import.meta.url).pathname,
      )});
       lockDirectory(${JSON.stringify(directory)});
       Bun.gc(true);
       console.log('locked');
       setInterval(() => {}, 1000);`,
    ],
    { stdout: 'pipe', stderr: 'inherit' },
  );
  try {
    const reader = child.stdout.getReader();
    await reader.read();
    expect(() => lockDirectory(directory)).toThrow(`(process ${child.pid})`);
  } finally {
    child.kill('SIGKILL');
  }
  await child.exited;
  lockDirectory(directory).release();
});

test('[R-5] a directory that cannot be written is reported as such', () => {
  const file = join(root, 'another-file');
  writeFileSync(file, '');
  expect(() => lockDirectory(join(file, 'data'))).toThrow(/another-file.data cannot be written: /);
});

test('[R-6] the service starts when the hint for a second one cannot be written, as on a full disk', () => {
  const directory = newDirectory();
  mkdirSync(join(directory, 'server.pid'), { recursive: true });
  lockDirectory(directory).release();
});
