import { describe, expect, test } from 'bun:test';
import { presentOptionsOf } from './present-options.ts';

const AT = 'https://live.example/studio/present/7d2c';

describe('the address of the presenter view', () => {
  test('without more is the wall of whoever is signed in', () => {
    expect(presentOptionsOf(AT)).toEqual({
      streamId: '7d2c',
      key: null,
      isOverlay: false,
      hasLiveBars: false,
      holdMs: null,
    });
  });

  test('has the key in its fragment, and nowhere else', () => {
    expect(presentOptionsOf(`${AT}/#key=pk_abc`)).toMatchObject({
      streamId: '7d2c',
      key: 'pk_abc',
    });
    expect(presentOptionsOf(`${AT}?key=pk_abc`).key).toBeNull();
  });

  test('says that it lies over a picture, where results go away by themselves', () => {
    const overlay = presentOptionsOf(`${AT}?background=transparent`);
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
  ])('says for how long results stay: %s', (query, holdMs) => {
    expect(presentOptionsOf(AT + query).holdMs).toBe(holdMs);
  });

  test.each([
    ['?bars=live', true],
    ['?bars', false],
    ['?bars=later', false],
  ])('says whether bars are shown before the results: %s', (query, hasLiveBars) => {
    expect(presentOptionsOf(AT + query).hasLiveBars).toBe(hasLiveBars);
  });
});
