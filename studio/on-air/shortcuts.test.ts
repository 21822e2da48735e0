import { describe, expect, test } from 'bun:test';
import { LINE_KEYS, lineKeyOf, SHORTCUTS } from './shortcuts.ts';

describe('keys', () => {
  test('do one thing each, and all of them are in the list', () => {
    const listed = SHORTCUTS.flatMap(({ all }) => all.map(({ keys }) => keys.join(' ')));
    expect(new Set(listed).size).toBe(listed.length);
    for (const key of Object.values(LINE_KEYS)) expect(listed).toContain(key.toUpperCase());
  });

  test('on a line are the same with and without Shift, and others are none', () => {
    expect(lineKeyOf('h')).toBe('hide');
    expect(lineKeyOf('H')).toBe('hide');
    expect(lineKeyOf('x')).toBeNull();
  });
});
