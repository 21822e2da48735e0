import { describe, expect, test } from 'bun:test';
import { problemOf } from './studio-problem.ts';

const detailOf = async (detail: string) =>
  (await problemOf(Response.json({ detail }, { status: 400 }))).detail;

describe('what an error response says', () => {
  test('names the field as the page does, and not as the service does', async () => {
    expect(await detailOf('title: must not be blank.')).toBe('The title must not be blank.');
    expect(await detailOf('currentPassword: is not the present one.')).toBe(
      'What is filled in as present password is not the present one.',
    );
  });

  test('is left as it is where no field is named, or one that no page has', async () => {
    for (const detail of ['line 1: unknown column "colour".', 'order: is old.', 'toString: no.']) {
      expect(await detailOf(detail)).toBe(detail);
    }
  });
});
