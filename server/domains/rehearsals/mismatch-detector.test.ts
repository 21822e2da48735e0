import { expect, test } from 'bun:test';
import { type Check, CheckRecorder } from '../../../crowd/ledger/check-results.ts';
import { countChecks, MismatchDetector } from './mismatch-detector.ts';

function wrong(...checks: Check[]) {
  const book = new CheckRecorder();
  for (const check of checks) book.record(check, `${check} is wrong`);
  return book.results();
}

test('[Y-7] a mismatch is reported once no ban can explain it', () => {
  const mismatch = new MismatchDetector();
  expect(mismatch.update(wrong(), false, 0)).toBeNull();
  expect(mismatch.update(wrong('count'), false, 100)).toBeNull();
  expect(mismatch.update(wrong('count'), false, 2_099)).toBeNull();
  expect(mismatch.update(wrong('count'), false, 2_100)).toBe('count is wrong');
  expect(new MismatchDetector().update(wrong('count'), false, 0, true)).toBe('count is wrong');
});

test('[Y-7] checks of events do not apply to rehearsals', () => {
  expect(new MismatchDetector().update(wrong('events'), false, 0, true)).toBeNull();
  expect(countChecks(wrong('events', 'count'))).toBe(1);
});

test('[Y-7] failed checks that a ban explains are not reported', () => {
  const mismatch = new MismatchDetector();
  expect(mismatch.update(wrong('count', 'winners'), false, 0)).toBeNull();
  expect(mismatch.update(wrong('count', 'winners'), true, 5_000)).toBeNull();
  expect(mismatch.update(wrong('count', 'bodies'), true, 5_000)).toBeNull();
  expect(mismatch.update(wrong('count', 'bodies'), true, 7_000)).toBe('bodies is wrong');
});
