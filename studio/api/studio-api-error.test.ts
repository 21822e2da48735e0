import { describe, expect, test } from 'bun:test';
import { apiErrorOf } from './studio-api-error.ts';

const detailOf = async (detail: string) =>
  (await apiErrorOf(Response.json({ detail }, { status: 400 }))).detail;

describe('apiErrorOf', () => {
  test('replaces a field name by its label', async () => {
    expect(await detailOf('title: must not be blank.')).toBe('The title must not be blank.');
    expect(await detailOf('currentPassword: is wrong.')).toBe('The current password is wrong.');
  });

  test('keeps a message without a known field name', async () => {
    for (const detail of ['line 1: unknown column "color".', 'order: is old.', 'toString: no.']) {
      expect(await detailOf(detail)).toBe(detail);
    }
  });
});
