import { describe, expect, test } from 'bun:test';
import type { StoredResult } from '../run/result.ts';
import { sourcesOf } from './costs.ts';
import { capacityLines } from './tables.ts';

const row = (name: string, figures: Record<string, number>) => ({
  name,
  figures: Object.fromEntries(
    Object.entries(figures).map(([figure, value]) => [
      figure,
      { median: value, least: value, most: value },
    ]),
  ),
});

const ROWS = {
  heartbeat: [row('Fourbeat', { 'bytes a response': 200 })],
  feed: [row('Fourbeat', { 'bytes a response': 900 })],
  token: [row('issued: Fourbeat', { 'CPU µs a request': 60 })],
  answer: [
    row('Fourbeat, PostgreSQL', { 'CPU µs a request': 30 }),
    row('PostgreSQL by itself', { 'requests/s': 50_000 }),
  ],
  push: [row('Fourbeat, event stream, 5,000 clients', { 'bytes a message': 600 })],
  viewers: [
    row('5,000 event streams', { 'CPU µs of each': 9 }),
    row('19,000 event streams', { 'CPU µs of each': 8 }),
    row('memory of an event stream', { 'bytes a viewer': 5_000 }),
    row('memory of a viewer who polls', { 'bytes a viewer': 900 }),
  ],
  growth: [
    row('1,000 viewers', { 'CPU µs/s of each': 90 }),
    row('15,000 viewers', { 'CPU µs/s of each': 40 }),
    row('1 node, 2,000 viewers', { 'PostgreSQL CPU ms/s': 20, 'Redis commands/s of a node': 19 }),
    row('4 nodes, 8,000 viewers', { 'PostgreSQL CPU ms/s': 50, 'Redis commands/s of a node': 18 }),
  ],
};

const resultsWithout = (...names: string[]) =>
  new Map(
    Object.entries(ROWS)
      .filter(([name]) => !names.includes(name))
      .map(([bench, rows]) => [bench, { bench, rows } as unknown as StoredResult]),
  );

describe('the tables of capacity', () => {
  const text = capacityLines(sourcesOf(resultsWithout())).join('\n');

  test('have ten thousand to ten million viewers, in three ways', () => {
    for (const viewers of ['10,000', '100,000', '1,000,000', '10,000,000']) {
      expect(text.match(new RegExp(`^\\| ${viewers} `, 'gm'))).toHaveLength(3);
    }
  });

  test('name the file, row and divisor of each unit cost', () => {
    expect(text).toMatch(/\| +8 \| +`growth.json`, 15,000 viewers, \*CPU µs\/s of each\* \/ 5 \|/);
    expect(text).toMatch(/\| +8 \| +`viewers.json`, 19,000 event streams, \*CPU µs of each\* \|/);
    expect(text).toMatch(/\| +18 \| +`growth.json`, 4 nodes, 8,000 viewers, /);
    expect(text).toMatch(/\| +0.00183 \| +\[scale.md\]\(..\/scale.md\)/);
  });

  test('have prices as variables', () => {
    // 10,000 viewers on one node: 200 bytes once and 900 four times a second.
    expect(text).toMatch(/\| +N \+ 137 G \|/);
    expect(text).toMatch(/\| +3 N \+ R \+ 3 P \+ 720 G \+ 14,400 D \+ 12,960 E \|/);
  });

  test('fail with the name of a missing figure', () => {
    expect(() => sourcesOf(resultsWithout('push'))).toThrow('there is no push.json');
    const other = { bench: 'token', rows: ROWS.feed } as unknown as StoredResult;
    const wrong = new Map([...resultsWithout(), ['token', other] as const]);
    expect(() => sourcesOf(wrong)).toThrow(
      'token.json has no "CPU µs a request" of "issued: Fourbeat"',
    );
  });
});
