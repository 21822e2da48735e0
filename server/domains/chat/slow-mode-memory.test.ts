import { expect, test } from 'bun:test';
import { slowModeContract } from '../../../test/support/chat/slow-mode-contract.ts';
import { createMemorySlowMode } from './slow-mode-memory.ts';

slowModeContract('memory', () => createMemorySlowMode());

test('[C-15] evicts the viewer who posted longest ago first', () => {
  const slowMode = createMemorySlowMode(2);
  const take = (seat: number) =>
    slowMode.take({ streamId: 'a', seat, periodMs: 1_000, nowMs: 1_750_000_000_000 });
  expect([1, 2, 1, 2].map(take)).toEqual([0, 0, 1_000, 1_000]);
  expect([3, 1].map(take)).toEqual([0, 0]);
});
