import { describe, expect, test } from 'bun:test';
import { eventLabel, parseCustomEvent, recentEvents, requestOf } from './offer.ts';

describe('parseCustomEvent', () => {
  test.each([
    [' ', null],
    ['null', null],
    ['{"color": "red"}', { color: 'red' }],
  ])('accepts a type with an object or no data: %p', (dataText, data) => {
    const event = { type: 'lights', data };
    expect(parseCustomEvent({ type: ' lights ', dataText })).toEqual({ event });
  });

  test('[P-25] returns an error for each invalid field', () => {
    const errorsOf = (type: string, dataText = '') => {
      const parsed = parseCustomEvent({ type, dataText });
      return 'errors' in parsed ? parsed.errors : null;
    };
    for (const type of ['', 'Lights', 'quiz', 'chats', 'purchase', 'discount']) {
      expect([type, errorsOf(type)]).toEqual([type, { type: expect.stringMatching(/must/) }]);
    }
    for (const data of ['{', 'red', '[1]', '3', '"red"', 'true']) {
      expect([data, errorsOf('lights', data)]).toEqual([data, { data: expect.any(String) }]);
    }
    expect(errorsOf('Lights', '[')).toEqual({ type: expect.any(String), data: expect.any(String) });
  });

  test('[P-23] accepts at most 4 KB of data', () => {
    const dataOf = (characters: number) => JSON.stringify({ a: 'ä'.repeat(characters) });
    expect(parseCustomEvent({ type: 'lights', dataText: dataOf(2_044) })).toHaveProperty('event');
    expect(parseCustomEvent({ type: 'lights', dataText: dataOf(2_045) })).toHaveProperty('errors');
  });
});

test('eventLabel describes an event in one line', () => {
  expect(eventLabel({ type: 'discount', data: { count: 1 } })).toBe('1 discount');
  expect(eventLabel({ type: 'discount', data: { count: 5 } })).toBe('5 discounts');
  const unnamed = { type: 'purchase', data: { name: '', text: 'took a mug' } };
  expect(eventLabel(unnamed)).toBe('Someone took a mug');
  expect(eventLabel({ type: 'lights', data: { color: 'red' } })).toBe('lights {"color":"red"}');
  expect(eventLabel({ type: 'lights', data: null })).toBe('lights');
});

test('[P-24] requestOf omits an empty name', () => {
  const unnamed = { type: 'purchase', data: { name: '', text: 'took a mug' } };
  expect(requestOf(unnamed)).toEqual({ type: 'purchase', data: { text: 'took a mug' } });
  const counted = { name: '', text: 'took a mug', productId: 'a', quantity: 2 };
  expect(requestOf({ type: 'purchase', data: counted })).toEqual({
    type: 'purchase',
    data: { text: 'took a mug', productId: 'a', quantity: 2 },
  });
  const named = { type: 'purchase', data: { name: 'Ada', text: 'took a mug' } } as const;
  expect(requestOf(named)).toEqual(named);
});

test('recentEvents has each event once, newest first, without events of the service', () => {
  const lights = { type: 'lights', data: null };
  const mug = { type: 'purchase', data: { name: 'Ada', text: 'took a mug' } };
  const all = [lights, { type: 'quiz-winners', data: { count: 2 } }, mug, lights];
  expect(recentEvents(all).map(eventLabel)).toEqual(['lights', 'Ada took a mug']);
  const many = Array.from({ length: 9 }, (_, n) => ({ type: 'lights', data: { n } }));
  expect(recentEvents(many)).toHaveLength(6);
});
