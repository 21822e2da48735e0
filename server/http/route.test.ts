import { expect, test } from 'bun:test';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { Route } from './route.ts';

const options = { corsOrigin: '*', listener: { server: null }, trustProxy: false };
const route = new Route(viewerApi.readTime, 'GET, HEAD, OPTIONS', options);

test.each([
  ['noContent', () => route.noContent(), route.headers],
  ['ok', () => route.ok({}), route.jsonHeaders],
] as const)(
  '[G-2] changing the headers of one %s response does not change the next',
  (_, respond, expected) => {
    const before = respond();
    const changed = respond();
    changed.headers.set('X-Of-One', 'x');
    changed.headers.set('Cache-Control', 'public');
    changed.headers.delete('Vary');
    const lowerCase = Object.entries(expected).map(([name, value]) => [name.toLowerCase(), value]);
    for (const other of [before, respond()]) {
      expect(Object.fromEntries(other.headers)).toEqual(Object.fromEntries(lowerCase));
    }
  },
);
