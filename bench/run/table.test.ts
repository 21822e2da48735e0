import { describe, expect, test } from 'bun:test';
import type { Result, Target } from './result.ts';
import { formatNumber, tableOf } from './table.ts';

const spread = (median: number, least = median, most = median) => ({ median, least, most });

function tableWith(target: Partial<Target> = {}): string[] {
  const result: Result = {
    bench: 'feed',
    title: 'reads',
    rows: [
      { name: 'Fourbeat', figures: { 'requests/s': spread(100_000, 90_000, 110_000) } },
      { name: 'nginx', figures: { 'requests/s': spread(125_000), 'ours to this': spread(0.8) } },
    ],
    targets: [{ name: 'against nginx', value: spread(0.8), aim: 1, atLeast: 0.85, ...target }],
    notes: ['A note.'],
  };
  return tableOf(result).split('\n');
}

describe('the table of a result', () => {
  test('is Markdown with a row for each contender and a column for each figure', () => {
    expect(tableWith().slice(0, 6)).toEqual([
      '### feed: reads',
      '',
      '|          |               requests/s | ours to this |',
      '| -------- | -----------------------: | -----------: |',
      '| Fourbeat | 100,000 (90,000–110,000) |              |',
      '| nginx    |                  125,000 |          0.8 |',
    ]);
    expect(tableWith().at(-1)).toBe('A note.');
  });

  test('has the verdict of a target, by the median', () => {
    const verdict = (target: Partial<Target>) => tableWith(target).join('\n');
    expect(verdict({})).toContain('| at least 0.85 |   1 | NOT REACHED |');
    expect(verdict({ value: spread(0.9, 0.5, 1.2) })).toMatch(/\| +reached \|/);
    expect(verdict({ value: spread(1) })).toContain('aim reached');
  });

  test('has the verdict of an upper limit', () => {
    const atMost = (median: number) => {
      const { atLeast: _, ...target } = { ...tableTarget, value: spread(median) };
      return tableOf({ bench: 'b', title: 't', rows: [], notes: [], targets: [target] });
    };
    expect(atMost(300)).toContain('NOT REACHED');
    expect(atMost(200)).toMatch(/at most 250 \| 100 \| +reached/);
    expect(atMost(90)).toContain('aim reached');
  });

  test('numbers have three significant digits, or all digits before the point', () => {
    expect([0.012345, 1.2345, 12.345, 123.45, 12_345.6].map(formatNumber)).toEqual([
      '0.0123',
      '1.23',
      '12.3',
      '123',
      '12,346',
    ]);
  });
});

const tableTarget: Target = {
  name: 'to all of them, ms',
  value: spread(0),
  atLeast: 0,
  atMost: 250,
  aim: 100,
};
