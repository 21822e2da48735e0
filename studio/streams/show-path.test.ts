import { expect, test } from 'bun:test';
import { pathAfterSignIn, showPathOf } from './show-path.ts';

const LIVE = { id: 'live', status: 'STREAMING' } as const;
const UPCOMING = { id: 'upcoming', status: 'CREATED' } as const;
const ENDED = { id: 'ended', status: 'ENDED' } as const;

test('a live show opens on air, another one in its setup', () => {
  expect([LIVE, UPCOMING, ENDED].map(showPathOf)).toEqual([
    '/streams/live/on-air',
    '/streams/upcoming',
    '/streams/ended',
  ]);
});

test('after sign-in the only live show opens, and the list of shows when there are none or several', () => {
  expect(pathAfterSignIn([UPCOMING, LIVE, ENDED])).toBe('/streams/live/on-air');
  expect(pathAfterSignIn([UPCOMING, ENDED])).toBeNull();
  expect(pathAfterSignIn([LIVE, { ...LIVE, id: 'second' }])).toBeNull();
});
