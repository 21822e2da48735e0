import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { bar, bigNumber, chart } from './blocks.ts';

test('bigNumber renders digits in three rows', () => {
  expect(bigNumber(2048)).toEqual(['▀▀█ █▀█ █ █ █▀█ ', '█▀▀ █ █ ▀▀█ █▀█ ', '▀▀▀ ▀▀▀   ▀ ▀▀▀ ']);
});

test('chart has its newest value at the right and a fixed size', () => {
  expect(chart([0, 50, 100], 5, 2)).toEqual(['   ▁█', '  ▁██']);
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 5_000 }), { maxLength: 80 }),
      fc.integer({ min: 1, max: 60 }),
      (values, columns) => {
        const rows = chart(values, columns, 3);
        expect(rows.map((row) => row.length)).toEqual([columns, columns, columns]);
      },
    ),
  );
});

test('bar is as long as its share', () => {
  expect(bar(0, 4)).toBe('    ');
  expect(bar(0.5, 4)).toBe('██  ');
  expect(bar(0.53125, 4)).toBe('██▏ ');
  expect(bar(2, 4)).toBe('████');
});
