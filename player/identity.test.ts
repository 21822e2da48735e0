import { expect, test } from 'bun:test';
import { memoryStorage } from '../test/support/player/pages/memory-storage.ts';
import { loadIdentity, storeName } from './identity.ts';

test('a viewer has the same id each time, with the stored name', () => {
  const storage = memoryStorage();
  const first = loadIdentity(storage);
  expect(first.id.length).toBeWithin(8, 257);
  expect(first.name).toBe('');
  storeName('Ann', storage);
  expect(loadIdentity(storage)).toEqual({ id: first.id, name: 'Ann' });
});

test('two browsers are two viewers', () => {
  expect(loadIdentity(memoryStorage()).id).not.toBe(loadIdentity(memoryStorage()).id);
});

test.each([
  ['no storage', null],
  ['a full storage', memoryStorage(0)],
])('a browser with %s has a viewer id all the same', (_, storage) => {
  storeName('Ann', storage);
  const { id, name } = loadIdentity(storage);
  expect(id).not.toBe('');
  expect(name).toBe('');
});
