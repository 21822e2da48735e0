import { expect, test } from 'bun:test';
import { loadIdentity, storeName } from './identity.ts';

/** @param capacity the number of items that fit */
function newStorage(capacity = Number.POSITIVE_INFINITY) {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (items.size >= capacity) throw new Error('QuotaExceededError');
      items.set(key, value);
    },
  };
}

test('a viewer has the same id each time, with the stored name', () => {
  const storage = newStorage();
  const first = loadIdentity(storage);
  expect(first.id.length).toBeWithin(8, 257);
  expect(first.name).toBe('');
  storeName('Ann', storage);
  expect(loadIdentity(storage)).toEqual({ id: first.id, name: 'Ann' });
});

test('two browsers are two viewers', () => {
  expect(loadIdentity(newStorage()).id).not.toBe(loadIdentity(newStorage()).id);
});

test.each([
  ['no storage', null],
  ['a full storage', newStorage(0)],
])('a browser with %s has a viewer id all the same', (_, storage) => {
  storeName('Ann', storage);
  const { id, name } = loadIdentity(storage);
  expect(id).not.toBe('');
  expect(name).toBe('');
});
