import { describe, expect, test } from 'bun:test';
import { displayAddress, parseDisplayOptions } from './display-options.ts';

const PAGE_URL = 'https://live.example/studio/present/7d2c';

describe('parseDisplayOptions', () => {
  test('returns the defaults without query and fragment', () => {
    const defaults = { key: null, isOverlay: false, hasLiveBars: false, holdMs: null };
    expect(parseDisplayOptions(PAGE_URL)).toEqual({ streamId: '7d2c', ...defaults });
  });

  test('reads the key from the fragment only', () => {
    const options = parseDisplayOptions(`${PAGE_URL}/#key=pk_abc`);
    expect(options).toMatchObject({ streamId: '7d2c', key: 'pk_abc' });
    expect(parseDisplayOptions(`${PAGE_URL}?key=pk_abc`).key).toBeNull();
  });

  test('hides results after 20 s in an overlay', () => {
    const overlay = parseDisplayOptions(`${PAGE_URL}?background=transparent`);
    expect(overlay).toMatchObject({ isOverlay: true, holdMs: 20_000 });
  });

  test.each([
    ['?hold=5', 5_000],
    ['?hold=0', 0],
    ['?background=transparent&hold=90', 90_000],
    ['?hold=999999', 3_600_000],
    ['?hold=-1', null],
    ['?hold=', null],
    ['?hold=long', null],
  ])('reads the hold time: %s', (query, holdMs) => {
    expect(parseDisplayOptions(PAGE_URL + query).holdMs).toBe(holdMs);
  });

  test.each([
    ['?bars=live', true],
    ['?bars', false],
    ['?bars=later', false],
  ])('reads whether bars are live: %s', (query, hasLiveBars) => {
    expect(parseDisplayOptions(PAGE_URL + query).hasLiveBars).toBe(hasLiveBars);
  });
});

const LINK_URL = 'https://live.example/studio/present/7d2c#key=pk_abc';

test.each([
  [false, false],
  [true, false],
  [false, true],
  [true, true],
])('parseDisplayOptions reads what displayAddress sets: overlay %s, live bars %s', (...set) => {
  const [isOverlay, hasLiveBars] = set;
  const appearance = { isOverlay, hasLiveBars };
  const options = parseDisplayOptions(displayAddress(LINK_URL, appearance));
  expect(options).toMatchObject({ streamId: '7d2c', key: 'pk_abc', ...appearance });
});

test('displayAddress keeps the URL for the default appearance', () => {
  expect(displayAddress(LINK_URL, { isOverlay: false, hasLiveBars: false })).toBe(LINK_URL);
});
