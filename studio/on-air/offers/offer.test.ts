import { describe, expect, test } from 'bun:test';
import { bodyOf, discountWords, lately, ownEventOf, wordsOf } from './offer.ts';

describe('an event of the producer’s own', () => {
  test('is its type, with an object of data or none', () => {
    expect(ownEventOf({ type: ' lights ', dataText: ' ' })).toEqual({
      event: { type: 'lights', data: null },
    });
    expect(ownEventOf({ type: 'lights', dataText: 'null' })).toEqual({
      event: { type: 'lights', data: null },
    });
    expect(ownEventOf({ type: 'lights', dataText: '{"colour": "red"}' })).toEqual({
      event: { type: 'lights', data: { colour: 'red' } },
    });
  });

  test('[P-25] says of each field what is wrong, before the service does', () => {
    const errorsOf = (type: string, dataText = '') => {
      const written = ownEventOf({ type, dataText });
      return 'errors' in written ? written.errors : null;
    };
    for (const type of ['', 'Lights', 'quiz', 'chats', 'purchase', 'discount']) {
      expect([type, errorsOf(type)]).toEqual([type, { type: expect.stringMatching(/must/) }]);
    }
    for (const data of ['{', 'red', '[1]', '3', '"red"', 'true']) {
      expect([data, errorsOf('lights', data)]).toEqual([data, { data: expect.any(String) }]);
    }
    expect(errorsOf('Lights', '[')).toEqual({ type: expect.any(String), data: expect.any(String) });
  });

  test('[P-23] has at most 4 KB of data', () => {
    const dataOf = (characters: number) => JSON.stringify({ a: 'ä'.repeat(characters) });
    expect(ownEventOf({ type: 'lights', dataText: dataOf(2_044) })).toHaveProperty('event');
    expect(ownEventOf({ type: 'lights', dataText: dataOf(2_045) })).toHaveProperty('errors');
  });
});

test('what was sent is said in a line', () => {
  expect(wordsOf({ type: 'discount', data: { count: 1 } })).toBe('1 discount');
  expect(discountWords(5)).toBe('5 discounts');
  expect(wordsOf({ type: 'purchase', data: { name: '', text: 'took a mug' } })).toBe(
    'Somebody took a mug',
  );
  expect(wordsOf({ type: 'lights', data: { colour: 'red' } })).toBe('lights {"colour":"red"}');
  expect(wordsOf({ type: 'lights', data: null })).toBe('lights');
});

test('[P-24] a name that nobody wrote is not sent', () => {
  expect(bodyOf({ type: 'purchase', data: { name: '', text: 'took a mug' } })).toEqual({
    type: 'purchase',
    data: { text: 'took a mug' },
  });
  const named = { type: 'purchase', data: { name: 'Ada', text: 'took a mug' } } as const;
  expect(bodyOf(named)).toEqual(named);
});

test('what can be sent again is there once each, the newest first, without what the service sends', () => {
  const lights = { type: 'lights', data: null };
  const mug = { type: 'purchase', data: { name: 'Ada', text: 'took a mug' } };
  const all = [lights, { type: 'quiz-winners', data: { count: 2 } }, mug, lights];
  expect(lately(all).map(wordsOf)).toEqual(['lights', 'Ada took a mug']);
  const many = Array.from({ length: 9 }, (_, n) => ({ type: 'lights', data: { n } }));
  expect(lately(many)).toHaveLength(6);
});
