import { expect, test } from 'bun:test';
import { slowModeContract } from '../../../test/support/chat/slow-mode-contract.ts';
import { createMemorySlowMode } from './slow-mode-memory.ts';

slowModeContract('memory', () => createMemorySlowMode());

test('[C-15] who wrote longest ago is forgotten first', () => {
  const turns = createMemorySlowMode(2);
  const take = (seat: number) =>
    turns.take({ streamId: 'a', seat, everyMs: 1_000, nowMs: 1_750_000_000_000 });
  expect([1, 2, 1, 2].map(take)).toEqual([0, 0, 1_000, 1_000]);
  expect([3, 1].map(take)).toEqual([0, 0]);
});
