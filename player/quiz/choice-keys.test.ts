import { describe, expect, test } from 'bun:test';
import { choiceOfKey } from './choice-keys.ts';

const TEN = Array.from({ length: 10 }, (_, index) => `choice ${index + 1}`);
const NONE = { altKey: false, ctrlKey: false, metaKey: false };
const of = (key: string, order: readonly string[] = TEN) => choiceOfKey({ ...NONE, key }, order);

describe('keys', () => {
  test('1 to 9 are the first nine choices, 0 the tenth', () => {
    expect(of('1')).toBe('choice 1');
    expect(of('9')).toBe('choice 9');
    expect(of('0')).toBe('choice 10');
  });

  test('of choices that are not there are nothing, nor are other keys', () => {
    for (const key of ['3', '0', 'F1', 'a', 'Enter', ' '])
      expect(of(key, ['yes', 'no'])).toBeNull();
  });

  test('with another one belong to the browser', () => {
    for (const other of ['altKey', 'ctrlKey', 'metaKey']) {
      expect(choiceOfKey({ ...NONE, key: '1', [other]: true }, TEN)).toBeNull();
    }
  });
});
