import { expect, test } from 'bun:test';
import { hasChanges } from './unsaved-changes.ts';

test('a form has changes while a field differs from its first value', () => {
  const initial = { title: 'A show', choices: ['Mars', ''], answer: null };
  expect(hasChanges(initial, { ...initial })).toBe(false);
  expect(hasChanges(initial, { ...initial, title: 'Another' })).toBe(true);
  expect(hasChanges(initial, { ...initial, choices: ['Mars', 'Venus'] })).toBe(true);
  expect(hasChanges(initial, { ...initial, answer: 0 })).toBe(true);
});
