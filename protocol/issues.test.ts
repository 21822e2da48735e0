import { expect, test } from 'bun:test';
import { z } from 'zod';
import { describeIssue, summarizeIssues } from './issues.ts';

const summaryOf = (value: unknown) => {
  const result = z.strictObject({}).safeParse(value, { error: describeIssue });
  return summarizeIssues(result.error?.issues ?? []);
};

test('[G-13] an error names an unknown member', () => {
  expect(summaryOf({ points: 1 })).toBe('Unrecognized key: "points"');
  expect(summaryOf({ a: 1, b: 2 })).toBe('Unrecognized keys: "a", "b"');
});

test('[G-13] an error names at most three unknown members, and the beginning of a long name', () => {
  const members = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`m${n}`, n]));
  expect(summaryOf(members)).toBe('Unrecognized keys: "m0", "m1", "m2" and 997 more');
  expect(summaryOf({ ['x'.repeat(10_000)]: 1 })).toBe(`Unrecognized key: "${'x'.repeat(40)}…"`);
});
