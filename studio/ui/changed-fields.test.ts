import { expect, test } from 'bun:test';
import { changedFields } from './changed-fields.ts';

interface Fields {
  readonly title: string;
  readonly choices: readonly string[];
  readonly stock: number | null;
}

const INITIAL: Fields = { title: 'A show', choices: ['Mars', 'Venus'], stock: 5 };
const changes = (part: Partial<Fields>) => changedFields(INITIAL, { ...INITIAL, ...part });

test('a save has only the fields that the form changed', () => {
  expect(changes({ stock: null })).toEqual({ stock: null });
  expect(changes({ title: 'Another', stock: 0 })).toEqual({ title: 'Another', stock: 0 });
  expect(changes({ choices: ['Mars'] })).toEqual({ choices: ['Mars'] });
});

test('a form without changes, or whose changes were undone, has nothing to save', () => {
  expect(changes({ choices: ['Mars', 'Venus'] })).toBeNull();
});

test('members of the initial values that the form does not have are not saved', () => {
  expect(changedFields({ ...INITIAL }, { title: 'Another' })).toEqual({ title: 'Another' });
});
