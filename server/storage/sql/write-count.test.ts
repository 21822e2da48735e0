import { expect, test } from 'bun:test';
import { type Calls, reading, writing } from './procedure.ts';
import { countWrites } from './write-count.ts';

const procedures = {
  look: reading(async () => 'seen'),
  note: writing(async () => {}),
  fail: writing(async () => {}),
  crowd: writing(async () => {}),
};

test('a write counts once it is over, also one that failed; reads and what a crowd writes do not', async () => {
  const noted = Promise.withResolvers<void>();
  const calls: Calls<typeof procedures> = {
    look: async () => 'seen',
    note: () => noted.promise,
    fail: () => Promise.reject(new Error('The disk is full.')),
    crowd: async () => {},
  };
  const record = countWrites(procedures, calls, new Set(['crowd']));
  const noting = record.calls.note(undefined);
  await record.calls.crowd(undefined);
  expect(await record.calls.look(undefined)).toBe('seen');
  expect(record.writes()).toBe(0);
  noted.resolve();
  await noting;
  expect(record.writes()).toBe(1);
  expect(await record.calls.fail(undefined).catch((error) => error.message)).toBe(
    'The disk is full.',
  );
  expect(record.writes()).toBe(2);
});
