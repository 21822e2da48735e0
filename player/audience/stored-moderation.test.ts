import { expect, test } from 'bun:test';
import { memoryStorage } from '../../test/support/player/pages/memory-storage.ts';
import { type Moderation, UNMODERATED } from './moderation.ts';
import { loadModeration, storeModeration } from './stored-moderation.ts';

const SLOW: Moderation = {
  ...UNMODERATED,
  mode: { slowModeMs: 5_000, paused: false },
  modeInterval: 8,
};

test('stored moderation is there after a reload, for its own stream only', () => {
  const storage = memoryStorage();
  expect(loadModeration('a', storage)).toBe(UNMODERATED);
  storeModeration('a', SLOW, storage);
  expect(loadModeration('a', storage)).toEqual(SLOW);
  expect(loadModeration('b', storage)).toBe(UNMODERATED);
});

test('moderation falls back to none without storage, with invalid data and with a full storage', () => {
  expect(loadModeration('a', null)).toBe(UNMODERATED);
  storeModeration('a', SLOW, null);
  const storage = memoryStorage();
  storage.setItem('fourbeat-chat', '{"streamId":');
  expect(loadModeration('a', storage)).toBe(UNMODERATED);
  expect(() => storeModeration('a', SLOW, memoryStorage(0))).not.toThrow();
});
