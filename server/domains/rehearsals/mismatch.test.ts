import { expect, test } from 'bun:test';
import { type Check, Verdictbook } from '../../../crowd/ledger/verdict.ts';
import { checksMade, Mismatch } from './mismatch.ts';

function wrong(...checks: Check[]) {
  const book = new Verdictbook();
  for (const check of checks) book.note(check, `${check} is wrong`);
  return book.verdicts();
}

test('[Y-7] a number that does not fit is told once nobody can have been banned just before', () => {
  const mismatch = new Mismatch();
  expect(mismatch.told(wrong(), false, 0)).toBeNull();
  expect(mismatch.told(wrong('count'), false, 100)).toBeNull();
  expect(mismatch.told(wrong('count'), false, 2_099)).toBeNull();
  expect(mismatch.told(wrong('count'), false, 2_100)).toBe('count is wrong');
  expect(new Mismatch().told(wrong('count'), false, 0, true)).toBe('count is wrong');
});

test('[Y-7] of what the producer sends the crowd knows nothing', () => {
  expect(new Mismatch().told(wrong('events'), false, 0, true)).toBeNull();
  expect(checksMade(wrong('events', 'count'))).toBe(1);
});

test('[Y-7] who is banned is in no count any more, and that is no mismatch', () => {
  const mismatch = new Mismatch();
  expect(mismatch.told(wrong('count', 'winners'), false, 0)).toBeNull();
  expect(mismatch.told(wrong('count', 'winners'), true, 5_000)).toBeNull();
  expect(mismatch.told(wrong('count', 'bodies'), true, 5_000)).toBeNull();
  expect(mismatch.told(wrong('count', 'bodies'), true, 7_000)).toBe('bodies is wrong');
});
