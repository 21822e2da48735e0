import { expect, test } from 'bun:test';
import { fractionDigitsOf, priceText } from './price-text.ts';

test.each([
  [1_250, 'EUR', '€12.50'],
  [0, 'USD', '$0.00'],
  [1_250, 'JPY', '¥1,250'],
  [1_250, 'KWD', 'KWD\u00a01.250'],
  [123_456_789, 'GBP', '£1,234,567.89'],
] as const)('[P-31] a price of %i in %s is %s', (price, currency, text) => {
  expect(priceText(price, currency, 'en')).toBe(text);
});

test('prices have the digits of their currency, and the form of the locale', () => {
  expect(['EUR', 'JPY', 'KWD'].map(fractionDigitsOf)).toEqual([2, 0, 3]);
  expect(priceText(1_250, 'EUR', 'de')).toBe('12,50\u00a0€');
});
