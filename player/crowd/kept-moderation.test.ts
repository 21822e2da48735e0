import { expect, test } from 'bun:test';
import type { Storage } from '../../sdk/environment.ts';
import { keepModeration, keptModeration } from './kept-moderation.ts';
import { type Moderation, UNMODERATED } from './moderation.ts';

const SLOW: Moderation = {
  ...UNMODERATED,
  mode: { slowModeMs: 5_000, paused: false },
  interval: 8,
};

function memory(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
  };
}

test('what a chat was like is there after a reload, and for its stream alone', () => {
  const storage = memory();
  expect(keptModeration('a', storage)).toBe(UNMODERATED);
  keepModeration('a', SLOW, storage);
  expect(keptModeration('a', storage)).toEqual(SLOW);
  expect(keptModeration('b', storage)).toBe(UNMODERATED);
});

test('a browser that keeps nothing, or something else, is no trouble', () => {
  expect(keptModeration('a', null)).toBe(UNMODERATED);
  keepModeration('a', SLOW, null);
  const storage = memory();
  storage.setItem('fourbeat-chat', '{"streamId":');
  expect(keptModeration('a', storage)).toBe(UNMODERATED);
  const full = {
    ...memory(),
    setItem: () => {
      throw new Error('no room');
    },
  };
  expect(() => keepModeration('a', SLOW, full)).not.toThrow();
});
