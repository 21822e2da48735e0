import { expect, test } from 'bun:test';
import { localTimeOf, localTimeText } from './local-time.ts';

test('[S-18] the start time of a show survives its form, to the minute', () => {
  // Around both changes to and from summer time.
  for (const text of ['2026-03-29T03:30', '2026-07-01T20:00', '2026-10-25T12:00']) {
    const unixMs = localTimeOf(text);
    expect(unixMs).not.toBeNull();
    expect(localTimeText(unixMs)).toBe(text);
  }
});

test('[S-18] an empty or incomplete start time is none', () => {
  for (const text of ['', '2026-', 'soon']) expect(localTimeOf(text)).toBeNull();
  expect(localTimeText(null)).toBe('');
});
