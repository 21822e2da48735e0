import { describe, expect, test } from 'bun:test';
import { charsLeft, charsLeftText, errorText, modeText, toSingleLine } from './compose-text.ts';

describe('chat text', () => {
  test('[G-22] is sent on one line, without control characters, and never blank', () => {
    expect(toSingleLine('  two\nlines\tand\u0000 more\u009f ')).toBe('two lines and  more');
    expect(toSingleLine(' \n ')).toBe('');
  });

  test('[C-2] has up to 280 characters, counted as the service counts them', () => {
    expect(charsLeft('a'.repeat(280))).toBe(0);
    expect(charsLeft('🎉'.repeat(280))).toBe(0);
    expect(charsLeft('a'.repeat(281))).toBe(-1);
  });
});

test('the character counter appears for the last 40 characters', () => {
  expect(charsLeftText(41)).toBeNull();
  expect(charsLeftText(40)).toBe('40 left');
  expect(charsLeftText(0)).toBe('0 left');
  expect(charsLeftText(-3)).toBe('3 too many');
});

describe('the error of a message that was not accepted', () => {
  const textOf = (
    kind: Parameters<typeof errorText>[0]['kind'],
    retryAfterMs: number | null = null,
    status: number | null = null,
  ) => errorText({ kind, status, message: 'You are muted in this chat.', retryAfterMs });

  test('[L-7] does not repeat the time to wait, which the mode text has, after too many messages', () => {
    expect(textOf('busy', 4_200)).toBe('Your message is not sent yet.');
    expect(textOf('busy')).toBe('Too many messages at once. Try again in a moment.');
  });

  test('[C-14] [C-18] is the text of the service when the chat does not accept it now', () => {
    expect(textOf('refused', null, 409)).toBe('You are muted in this chat.');
  });

  test('differs for each kind of error', () => {
    const kinds = ['denied', 'unknown', 'refused', 'unavailable', 'left', 'busy'] as const;
    expect(new Set(kinds.map((kind) => textOf(kind))).size).toBe(kinds.length);
  });
});

test.each([
  [0, false, 0, null],
  [10_000, false, 0, 'Slow mode: one message every 10 s.'],
  [90_000, false, 0, 'Slow mode: one message every 1:30 min.'],
  [300_000, false, 0, 'Slow mode: one message every 5 min.'],
  [10_000, false, 7, 'Slow mode: you can write again in 7 s.'],
  [300_000, false, 245, 'Slow mode: you can write again in 4:05 min.'],
  [0, false, 5, 'Too many messages at once. You can write again in 5 s.'],
  [10_000, true, 7, 'The chat is paused.'],
])(
  '[C-13] mode text with a slow mode of %d ms, paused %p, %d s to wait',
  (slowModeMs, paused, waitS, text) => {
    expect(modeText({ slowModeMs, paused }, waitS)).toBe(text);
  },
);
