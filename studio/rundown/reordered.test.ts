import { describe, expect, test } from 'bun:test';
import { reordered, withOrder } from './reordered.ts';

const ALL = ['sent', 'a', 'b', 'c', 'd'];
const DRAFTS = new Set(['a', 'b', 'c', 'd']);
const after = (key: string) => ({ key, isAfter: true });
const before = (key: string) => ({ key, isAfter: false });

describe('drafts that are dragged', () => {
  test('go before or after the one where they are let go', () => {
    expect(reordered(ALL, DRAFTS, new Set(['d']), before('b'))).toEqual(['a', 'd', 'b', 'c']);
    expect(reordered(ALL, DRAFTS, new Set(['a']), after('c'))).toEqual(['b', 'c', 'a', 'd']);
  });

  test('stay among themselves as they were', () => {
    expect(reordered(ALL, DRAFTS, new Set(['d', 'b']), before('a'))).toEqual(['b', 'd', 'a', 'c']);
  });

  test('that are let go on themselves stay', () => {
    expect(reordered(ALL, DRAFTS, new Set(['b']), after('b'))).toEqual(['a', 'b', 'c', 'd']);
    expect(reordered(ALL, DRAFTS, new Set(['b']), before('b'))).toEqual(['a', 'b', 'c', 'd']);
  });

  test('come first when they are let go at one that was sent before them', () => {
    expect(reordered(ALL, DRAFTS, new Set(['c']), before('sent'))).toEqual(['c', 'a', 'b', 'd']);
  });

  test('leave those that were sent where they are', () => {
    const quizzes = [
      { id: 'a', state: 'draft' },
      { id: 'sent', state: 'revealed' },
      { id: 'b', state: 'draft' },
    ];
    expect(withOrder(quizzes, ['b', 'a']).map(({ id }) => id)).toEqual(['b', 'sent', 'a']);
  });
});
