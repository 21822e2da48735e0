import { expect, test } from 'bun:test';
import { type Calls, readProcedure, writeProcedure } from './procedure.ts';
import { countWrites } from './write-count.ts';

const procedures = {
  read: readProcedure(async () => 'seen'),
  write: writeProcedure(async () => {}),
  fail: writeProcedure(async () => {}),
  excluded: writeProcedure(async () => {}),
};

test('a write is counted when it ends or fails; reads and excluded writes are not counted', async () => {
  const written = Promise.withResolvers<void>();
  const store: Calls<typeof procedures> = {
    read: async () => 'seen',
    write: () => written.promise,
    fail: () => Promise.reject(new Error('The disk is full.')),
    excluded: async () => {},
  };
  const counted = countWrites(procedures, store, new Set(['excluded']));
  const writing = counted.store.write(undefined);
  await counted.store.excluded(undefined);
  expect(await counted.store.read(undefined)).toBe('seen');
  expect(counted.writes()).toBe(0);
  written.resolve();
  await writing;
  expect(counted.writes()).toBe(1);
  expect(await counted.store.fail(undefined).catch((error) => error.message)).toBe(
    'The disk is full.',
  );
  expect(counted.writes()).toBe(2);
});
