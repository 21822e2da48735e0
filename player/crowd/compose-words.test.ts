import { describe, expect, test } from 'bun:test';
import { charsLeft, cleaned, modeWords, roomWords, troubleWords } from './compose-words.ts';

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
  const words = (
    kind: Parameters<typeof troubleWords>[0]['kind'],
    retryAfterMs: number | null = null,
    status: number | null = null,
  ) => troubleWords({ kind, status, message: 'You are muted in this chat.', retryAfterMs });

  test('[L-7] of too many lines is said with the time until there is room again', () => {
    expect(words('busy', 4_200)).toBe('Your line is not sent yet.');
    expect(words('busy')).toBe('That was a lot at once. Try again in a moment.');
  });

  test('[C-14] [C-18] of a chat that does not take it now is what the service says', () => {
    expect(words('refused', null, 409)).toBe('You are muted in this chat.');
  });

  test('is another for each kind of trouble', () => {
    const kinds = ['denied', 'unknown', 'refused', 'away', 'left', 'busy'] as const;
    expect(new Set(kinds.map((kind) => words(kind))).size).toBe(kinds.length);
  });
});

describe('how one may write', () => {
  test.each([
    [0, false, 0, null],
    [10_000, false, 0, 'Slow mode: one message each 10 s.'],
    [90_000, false, 0, 'Slow mode: one message each 1:30 min.'],
    [300_000, false, 0, 'Slow mode: one message each 5 min.'],
    [10_000, false, 7, 'Slow mode: you can write in 7 s.'],
    [300_000, false, 245, 'Slow mode: you can write in 4:05 min.'],
    [0, false, 5, 'That was a lot at once. You can write in 5 s.'],
    [10_000, true, 7, 'The chat is paused.'],
  ])(
    '[C-13] with a slow mode of %d ms, paused %p, %d s to wait',
    (slowModeMs, paused, waitS, words) => {
      expect(modeWords({ slowModeMs, paused }, waitS)).toBe(words);
    },
  );
});
