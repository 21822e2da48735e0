import { expect, test } from 'bun:test';
import { closeSync, openSync } from 'node:fs';
import { countOpenFiles, createOpenFiles, OpenFiles } from './open-files.ts';

test('clients get nine tenths of the open files that are not reserved, and relayed requests the rest', () => {
  const files = createOpenFiles(400);
  expect(files.state.max).toBe(300);
  for (let n = 0; n < 270; n++) expect(files.takeForClient()).toBe(true);
  expect([files.takeForClient(), files.takeForClient()]).toEqual([false, false]);
  expect(files.refused()).toBe(2);
  expect([files.take(28), files.take(3), files.take(2)]).toEqual([true, false, true]);
  files.release(2 + 28 + 1);
  expect([files.open(), files.takeForClient()]).toEqual([269, true]);
});

test('threads share the count', () => {
  const files = createOpenFiles(400);
  const elsewhere = new OpenFiles(files.state);
  for (let n = 0; n < 270; n++) elsewhere.takeForClient();
  expect([files.takeForClient(), elsewhere.refused()]).toEqual([false, 1]);
});

test('a process without a known limit refuses nothing', () => {
  const files = createOpenFiles(Number.POSITIVE_INFINITY);
  for (let n = 0; n < 1_000; n++) expect(files.takeForClient()).toBe(true);
});

test('the limit of this process leaves room for its files', () => {
  expect(createOpenFiles().state.max).toBeGreaterThan(100);
});

test('[O-12] the number of open files is that of the process, or else the counted one', () => {
  const before = countOpenFiles(() => 7);
  const file = openSync('/dev/null', 'r');
  try {
    // Where the system has no number, both are the counted one.
    expect([7, before + 1]).toContain(countOpenFiles(() => 7));
  } finally {
    closeSync(file);
  }
  expect(countOpenFiles(() => 7, '/proc/self/missing')).toBe(7);
  // The size of /proc/self is 0, as that of the folder is before Linux 6.2.
  if (process.platform === 'linux') expect(countOpenFiles(() => 7, '/proc/self')).toBe(7);
});
