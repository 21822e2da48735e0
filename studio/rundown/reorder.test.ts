import { describe, expect, test } from 'bun:test';
import { applyOrder, reorderDrafts } from './reorder.ts';

const ALL = ['sent', 'a', 'b', 'c', 'd'];
const DRAFTS = new Set(['a', 'b', 'c', 'd']);
const after = (key: string) => ({ key, isAfter: true });
const before = (key: string) => ({ key, isAfter: false });

describe('reorderDrafts', () => {
  test.each([
    ['moves a draft before the target', 'd', before('b'), 'adbc'],
    ['moves a draft after the target', 'a', after('c'), 'bcad'],
    ['keeps the relative order of moved drafts', 'db', before('a'), 'bdac'],
    ['changes nothing for a drop after itself', 'b', after('b'), 'abcd'],
    ['changes nothing for a drop before itself', 'b', before('b'), 'abcd'],
    ['moves a draft to the front for a drop at a sent quiz before it', 'c', before('sent'), 'cabd'],
  ])('%s', (_, moved, drop, order) => {
    expect(reorderDrafts(ALL, DRAFTS, new Set(moved), drop)).toEqual([...order]);
  });

  test('applyOrder keeps sent quizzes in place', () => {
    const quizzes = [
      { id: 'a', state: 'draft' },
      { id: 'sent', state: 'revealed' },
      { id: 'b', state: 'draft' },
    ];
    expect(applyOrder(quizzes, ['b', 'a']).map(({ id }) => id)).toEqual(['b', 'sent', 'a']);
  });
});
