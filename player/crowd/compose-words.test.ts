import { describe, expect, test } from 'bun:test';
import { charsLeft, cleaned, roomWords, troubleWords } from './compose-words.ts';

describe('what is sent', () => {
  test('[G-22] is on one line, without control characters, and is not blank', () => {
    expect(cleaned('  two\nlines\tand\u0000 more\u009f ')).toBe('two lines and  more');
    expect(cleaned(' \n ')).toBe('');
  });

  test('[C-2] has up to 280 characters, counted as the service counts', () => {
    expect(charsLeft('a'.repeat(280))).toBe(0);
    expect(charsLeft('🎉'.repeat(280))).toBe(0);
    expect(charsLeft('a'.repeat(281))).toBe(-1);
  });
});

describe('the room that is left', () => {
  test('is told when the end is near', () => {
    expect(roomWords(41)).toBeNull();
    expect(roomWords(40)).toBe('40 left');
    expect(roomWords(0)).toBe('0 left');
    expect(roomWords(-3)).toBe('3 too many');
  });
});

describe('why a line was not taken', () => {
  const words = (kind: Parameters<typeof troubleWords>[0]['kind'], retryAfterMs: number | null) =>
    troubleWords({ kind, retryAfterMs });

  test('[L-7] of too many lines tells when there is room again', () => {
    expect(words('busy', 4_200)).toBe('That was a lot at once. Try again in 5 s.');
    expect(words('busy', null)).toBe('That was a lot at once. Try again in a moment.');
  });

  test('is another for each kind of trouble', () => {
    const kinds = ['denied', 'unknown', 'refused', 'away', 'left', 'busy'] as const;
    expect(new Set(kinds.map((kind) => words(kind, null))).size).toBe(kinds.length);
  });
});
