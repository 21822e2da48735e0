import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { clockTime, figure, fit, megabytes } from './figures.ts';

test('figures are written for people', () => {
  expect(figure(1_234_567.8)).toBe('1,234,568');
  expect(megabytes(96_400_000)).toBe('96 MB');
  expect([0, 9_999, 61_000, 3_600_000].map(clockTime)).toEqual(['0:00', '0:09', '1:01', '60:00']);
});

test('a text is cut or filled to its columns, wide characters too', () => {
  expect(fit('Fourbeat', 5)).toBe('Four…');
  expect(fit('ab', 4)).toBe('ab  ');
  expect(fit('ab', 4, 'right')).toBe('  ab');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 40 }), (text, columns) => {
      expect(Bun.stringWidth(fit(text, columns))).toBe(columns);
    }),
  );
});
