import { expect, test } from 'bun:test';
import { presentOptionsOf } from './present-options.ts';
import { presenterAddress } from './presenter-address.ts';

const URL_MADE = 'https://live.example/studio/present/7d2c#key=pk_abc';

test.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])('an address says what the view reads from it: over a picture %s, live bars %s', (...look) => {
  const [isOverlay, hasLiveBars] = look;
  const address = presenterAddress(URL_MADE, { isOverlay, hasLiveBars });
  expect(presentOptionsOf(address)).toMatchObject({
    streamId: '7d2c',
    key: 'pk_abc',
    isOverlay,
    hasLiveBars,
  });
});

test('an address without anything special is the one that was made', () => {
  expect(presenterAddress(URL_MADE, { isOverlay: false, hasLiveBars: false })).toBe(URL_MADE);
});
