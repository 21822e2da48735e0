import { expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { Route } from './route.ts';

const route = new Route(viewerApi.readTime, 'GET, HEAD, OPTIONS', '*', { server: null }, false);

test.each([
  ['noContent', () => route.noContent(), route.bare],
  ['ok', () => route.ok({}), route.json],
] as const)(
  '[G-2] what is done to the headers of one %s does not show in the next',
  (_, answer, expected) => {
    const before = answer();
    const changed = answer();
    changed.headers.set('X-Of-One', 'x');
    changed.headers.set('Cache-Control', 'public');
    changed.headers.delete('Vary');
    const lowerCase = Object.entries(expected).map(([name, value]) => [name.toLowerCase(), value]);
    for (const other of [before, answer()]) {
      expect(Object.fromEntries(other.headers)).toEqual(Object.fromEntries(lowerCase));
    }
  },
);
