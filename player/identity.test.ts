import { expect, test } from 'bun:test';
import { identityIn, keepName } from './identity.ts';

function newStorage(roomFor = Number.POSITIVE_INFINITY) {
  const kept = new Map<string, string>();
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (kept.size >= roomFor) throw new Error('QuotaExceededError');
      kept.set(key, value);
    },
  };
}

test('somebody is the same each time, with the name they gave', () => {
  const storage = newStorage();
  const first = identityIn(storage);
  expect(first.id.length).toBeWithin(8, 257);
  expect(first.name).toBe('');
  keepName('Ann', storage);
  expect(identityIn(storage)).toEqual({ id: first.id, name: 'Ann' });
});

test('two browsers are two viewers', () => {
  expect(identityIn(newStorage()).id).not.toBe(identityIn(newStorage()).id);
});

test.each([
  ['keeps nothing', null],
  ['has no room', newStorage(0)],
])('a browser that %s has a viewer all the same', (_, storage) => {
  keepName('Ann', storage);
  const { id, name } = identityIn(storage);
  expect(id).not.toBe('');
  expect(name).toBe('');
});
