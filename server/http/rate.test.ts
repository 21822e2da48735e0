import { expect, test } from 'bun:test';
import { Problem } from './problem.ts';
import { Rate } from './rate.ts';

async function taken(rate: Rate, key: string): Promise<boolean> {
  try {
    await rate.take(key);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.status === 429) return false;
    throw error;
  }
}

test('[L-9] each key has its own share', async () => {
  const rate = new Rate('calls', { points: 2, durationS: 60 });
  expect(await taken(rate, 'a')).toBe(true);
  expect(await taken(rate, 'a')).toBe(true);
  expect(await taken(rate, 'a')).toBe(false);
  expect(await taken(rate, 'b')).toBe(true);
});

test('[L-14] beyond so many keys the new ones share one, and the known keep their own', async () => {
  const rate = new Rate('calls', { points: 2, durationS: 60 }, 3);
  for (const key of ['a', 'b', 'c']) expect(await taken(rate, key)).toBe(true);
  expect(await taken(rate, 'd')).toBe(true);
  expect(await taken(rate, 'e')).toBe(true);
  for (const key of ['f', 'g', 'd']) expect(await taken(rate, key)).toBe(false);
  expect(await taken(rate, 'a')).toBe(true);
  expect(await taken(rate, 'a')).toBe(false);
});

test('[L-14] keys that come at once are counted too', async () => {
  const rate = new Rate('calls', { points: 1, durationS: 60 }, 3);
  const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`);
  const passed = await Promise.all(keys.map((key) => taken(rate, key)));
  expect(passed.filter(Boolean)).toHaveLength(4);
});
