import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { idsOf } from './path-ids.ts';

const idOf = (stream_id: string) => idsOf({ params: { stream_id } }).stream_id;

test('an identifier in a path is the same in any case', () => {
  const id = crypto.randomUUID();
  expect([idOf(id), idOf(id.toUpperCase())]).toEqual([id, id]);
});

test('[G-12] [G-28] whatever else is in a path names nothing, and no database has to take it', () => {
  const id = crypto.randomUUID();
  const near = ['\0', ' ', '\n', '0', '\ud800'].flatMap((piece) => [id + piece, piece + id]);
  for (const text of ['', `{${id}}`, id.slice(1), ...near]) expect(idOf(text)).toBe('');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => idOf(text) === ''));
});
