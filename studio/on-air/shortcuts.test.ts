import { describe, expect, test } from 'bun:test';
import { MESSAGE_KEYS, messageShortcutOf, SHORTCUTS } from './shortcuts.ts';

describe('SHORTCUTS', () => {
  test('has every key once', () => {
    const listed = SHORTCUTS.flatMap(({ all }) => all.map(({ keys }) => keys.join(' ')));
    expect(new Set(listed).size).toBe(listed.length);
    for (const key of Object.values(MESSAGE_KEYS)) expect(listed).toContain(key.toUpperCase());
  });

  test('ignores Shift for message keys', () => {
    expect(messageShortcutOf('h')).toBe('hide');
    expect(messageShortcutOf('H')).toBe('hide');
    expect(messageShortcutOf('x')).toBeNull();
  });
});
