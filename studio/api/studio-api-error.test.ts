import { describe, expect, test } from 'bun:test';
import { apiErrorOf } from './studio-api-error.ts';

const detailOf = (detail: string) => apiErrorOf(400, { detail }).detail;

describe('apiErrorOf', () => {
  test('replaces a field name by its label', () => {
    expect(detailOf('title: must not be blank.')).toBe('The title must not be blank.');
    expect(detailOf('currentPassword: is wrong.')).toBe('The current password is wrong.');
  });

  test('keeps a message without a known field name', () => {
    for (const detail of ['line 1: unknown column "color".', 'order: is old.', 'toString: no.']) {
      expect(detailOf(detail)).toBe(detail);
    }
  });
});
