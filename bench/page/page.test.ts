import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import type { StoredResult, Target } from '../run/result.ts';
import { filled, PAGE, pageWith, tablesOf } from './page.ts';
import { RESULTS_FOLDER } from './results.ts';
import { targetTable } from './targets.ts';

const spread = (median: number) => ({ median, least: median - 1, most: median + 1 });

function resultOf(bench: string, targets: readonly Target[] = []): StoredResult {
  return {
    bench,
    title: `all about ${bench}`,
    rows: [{ name: 'Fourbeat', figures: { 'requests/s': spread(100) } }],
    targets,
    notes: [],
    madeAt: '2026-11-22T13:40:07.123Z',
    machine: { processor: 'A', cores: 2, memoryGB: 24, bun: '1.4.4', system: 'linux x64' },
    rounds: 5,
    seconds: 4,
  };
}

const feedWith = (median: number, name = 'against nginx, static file') =>
  resultOf('feed', [{ name, value: spread(median), atLeast: 5, aim: 10 }]);

describe('the page of performance', () => {
  test('is up to date with the results beside it (`npm run bench:tables` writes it)', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(pageWith(RESULTS_FOLDER));
  });

  test('has a message instead of tables when there are no results', () => {
    expect(pageWith('/nowhere')).toContain('There are no results in `docs/performance/` yet');
    expect(pageWith('/nowhere')).toContain('Not available yet: there is no growth.json');
  });
});

describe('a part of a page', () => {
  const PAGE_TEXT = '# Page\n\n<!-- tables -->\nold\n<!-- /tables -->\n\nThe end.\n';

  test('is replaced without a change around it', () => {
    const once = filled(PAGE_TEXT, 'tables', ['new', 'lines']);
    expect(once).toBe('# Page\n\n<!-- tables -->\n\nnew\nlines\n\n<!-- /tables -->\n\nThe end.\n');
    expect(filled(once, 'tables', ['new', 'lines'])).toBe(once);
  });

  test('must be marked exactly once', () => {
    expect(() => filled(PAGE_TEXT, 'capacity', [])).toThrow('<!-- capacity -->');
    expect(() => filled(PAGE_TEXT.repeat(2), 'tables', [])).toThrow('once');
    expect(() => filled('<!-- tables --> and no end', 'tables', [])).toThrow('once');
  });
});

describe('the tables', () => {
  const results = new Map([
    ['feed', feedWith(7)],
    ['mixed', resultOf('mixed')],
  ]);
  const text = tablesOf(results, ['mixed', 'feed', 'push']).join('\n');

  test('are in the order of the benchmarks, with machine, command and chart', () => {
    expect(text.indexOf('### mixed: ')).toBeLessThan(text.indexOf('### feed: '));
    expect(text).not.toContain('### push');
    expect(text).toContain('![feed: all about feed](feed.svg)');
    expect(text).toContain(
      '`npm run bench -- feed --rounds 5 --seconds 4`, 2026-11-22 13:40 UTC: A, 2 cores, 24 GB, Bun 1.4.4, linux x64.',
    );
    expect(text).toContain('100 (99–101)');
  });

  test('begin with the targets', () => {
    expect(text.startsWith('### Reach')).toBe(true);
  });
});

describe('the target table', () => {
  const lineOf = (median: number) =>
    targetTable(new Map([['feed', feedWith(median)]])).find((line) => line.includes('| feed: '));

  test('has limit, aim, result and verdict', () => {
    expect(lineOf(7)).toMatch(
      /feed: against nginx, static file +\| at least 5 \| +10 \| +7 \(6–8\) \| +reached \|/,
    );
    expect(lineOf(11)).toMatch(/aim reached \|$/);
    expect(lineOf(4)).toMatch(/NOT REACHED \|$/);
  });

  test('has a row for each target that was not measured', () => {
    const lines = targetTable(new Map());
    expect(lines.filter((line) => line.includes('not measured'))).toHaveLength(11);
  });

  test('names the benchmark of a part that failed', () => {
    const failed = { ...resultOf('feed'), failures: ['polling: 503'] };
    const lines = targetTable(new Map([['feed', failed]]));
    expect(lines.filter((line) => line.endsWith(' failed: see feed |'))).toHaveLength(1);
    expect(tablesOf(new Map([['feed', failed]]), ['feed']).join('\n')).toContain(
      'FAILED: polling: 503',
    );
  });

  test('fails when a result lacks its target', () => {
    const results = new Map([['feed', feedWith(7, 'against something else')]]);
    expect(() => targetTable(results)).toThrow(
      'feed.json has no target for "feed, sealed interval',
    );
  });
});
