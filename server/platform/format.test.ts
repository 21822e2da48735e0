import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { fitToColumns, formatDuration, formatInteger, formatMegabytes } from './format.ts';

test('numbers, sizes and durations are formatted for people', () => {
  expect(formatInteger(1_234_567.8)).toBe('1,234,568');
  expect(formatMegabytes(96_400_000)).toBe('96 MB');
  expect([0, 9_999, 61_000, 3_600_000].map(formatDuration)).toEqual([
    '0:00',
    '0:09',
    '1:01',
    '60:00',
  ]);
});

test('a text is cut or padded to its columns, also with wide characters', () => {
  expect(fitToColumns('Fourbeat', 5)).toBe('Four…');
  expect(fitToColumns('ab', 4)).toBe('ab  ');
  expect(fitToColumns('ab', 4, 'right')).toBe('  ab');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat({ max: 40 }), (text, columns) => {
      expect(Bun.stringWidth(fitToColumns(text, columns))).toBe(columns);
    }),
  );
});
