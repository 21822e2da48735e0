import { describe, expect, test } from 'bun:test';
import { applyOrder, reorderDrafts } from './reorder.ts';

const ALL = ['sent', 'a', 'b', 'c', 'd'];
const DRAFTS = new Set(['a', 'b', 'c', 'd']);
const after = (key: string) => ({ key, isAfter: true });
const before = (key: string) => ({ key, isAfter: false });

describe('reorderDrafts', () => {
  test('moves drafts before or after the target', () => {
    expect(reorderDrafts(ALL, DRAFTS, new Set(['d']), before('b'))).toEqual(['a', 'd', 'b', 'c']);
    expect(reorderDrafts(ALL, DRAFTS, new Set(['a']), after('c'))).toEqual(['b', 'c', 'a', 'd']);
  });

  test('keeps the relative order of moved drafts', () => {
    expect(reorderDrafts(ALL, DRAFTS, new Set(['d', 'b']), before('a'))).toEqual([
      'b',
      'd',
      'a',
      'c',
    ]);
  });

  test('changes nothing for a drop on itself', () => {
    expect(reorderDrafts(ALL, DRAFTS, new Set(['b']), after('b'))).toEqual(['a', 'b', 'c', 'd']);
    expect(reorderDrafts(ALL, DRAFTS, new Set(['b']), before('b'))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('moves drafts to the front for a drop at a sent quiz before them', () => {
    expect(reorderDrafts(ALL, DRAFTS, new Set(['c']), before('sent'))).toEqual([
      'c',
      'a',
      'b',
      'd',
    ]);
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
