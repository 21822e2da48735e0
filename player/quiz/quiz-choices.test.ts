import { describe, expect, test } from 'bun:test';
import { choiceOfKey } from './quiz-choices.tsx';

const TEN = Array.from({ length: 10 }, (_, index) => `choice ${index + 1}`);
const NO_MODIFIERS = { altKey: false, ctrlKey: false, metaKey: false };
const choiceOf = (key: string, order: readonly string[] = TEN) =>
  choiceOfKey({ ...NO_MODIFIERS, key }, order);

describe('number keys', () => {
  test('1 to 9 are the first nine choices, 0 the tenth', () => {
    expect(choiceOf('1')).toBe('choice 1');
    expect(choiceOf('9')).toBe('choice 9');
    expect(choiceOf('0')).toBe('choice 10');
  });

  test('without a choice do nothing, nor do other keys', () => {
    for (const key of ['3', '0', 'F1', 'a', 'Enter', ' '])
      expect(choiceOf(key, ['yes', 'no'])).toBeNull();
  });

  test('with a modifier belong to the browser', () => {
    for (const modifier of ['altKey', 'ctrlKey', 'metaKey']) {
      expect(choiceOfKey({ ...NO_MODIFIERS, key: '1', [modifier]: true }, TEN)).toBeNull();
    }
  });
});
