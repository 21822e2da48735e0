import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Row } from '../run/result.ts';
import { figureOf, readResults } from './results.ts';

const row = (name: string, figures: Record<string, number>): Row => {
  const spreads = Object.entries(figures).map(([figure, median]) => [
    figure,
    { median, least: median, most: median },
  ]);
  return { name, figures: Object.fromEntries(spreads) };
};

const GROWTH = {
  bench: 'growth',
  rows: [
    row('1,000 viewers', { CPU: 90 }),
    row('10,000 viewers', { CPU: 50 }),
    row('2,000 viewers', { CPU: 70 }),
    row('19,000 viewers', { memory: 3 }),
    row('1 idle stream', { CPU: 12 }),
  ],
};

describe('results in a folder', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'fourbeat-results-'));
    writeFileSync(join(folder, 'growth.json'), JSON.stringify(GROWTH));
    writeFileSync(join(folder, 'growth.svg'), '<svg/>');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('are read by the names of their benchmarks', () => {
    expect([...readResults(folder).keys()]).toEqual(['growth']);
    expect(readResults(join(folder, 'not there')).size).toBe(0);
  });

  test('have figures by row and name', () => {
    const figure = figureOf(readResults(folder), 'growth', '1 idle stream', 'CPU');
    expect(figure).toEqual({ bench: 'growth', row: '1 idle stream', name: 'CPU', median: 12 });
  });

  test('have the figure of the matching row with the largest number', () => {
    const figure = figureOf(readResults(folder), 'growth', /^([\d,]+) viewers$/, 'CPU');
    expect(figure).toMatchObject({ row: '10,000 viewers', median: 50 });
  });

  test('fail with the name of a missing figure', () => {
    const figure = (bench: string, from: string | RegExp, name: string) => () =>
      figureOf(readResults(folder), bench, from, name);
    expect(figure('feed', 'Fourbeat', 'CPU')).toThrow('there is no feed.json');
    expect(figure('growth', '1 node', 'CPU')).toThrow('growth.json has no "CPU" of "1 node"');
    expect(figure('growth', '1 idle stream', 'ms')).toThrow('no "ms" of "1 idle stream"');
    expect(figure('growth', /^(\d+) nodes/, 'CPU')).toThrow(
      'no "CPU" of a row like /^(\\d+) nodes/',
    );
  });
});
