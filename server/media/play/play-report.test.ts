import { expect, test } from 'bun:test';
import { createStatusFormatter, plainReport } from './play-report.ts';

test('[M-9] the status line shows current rates and dropped frames', () => {
  const format = createStatusFormatter();
  const frames = (drawn: number, dropped: number) => ({ drawn, dropped });
  const state = { isLive: true, elapsedMs: 1_000, sentBytes: 60_000, frames: frames(25, 0) };
  expect(format(state)).toBe('0:01  live · 480 kbit/s · 25.0 frames/s · 0 dropped');
  expect(
    format({ isLive: false, elapsedMs: 3_000, sentBytes: 60_000, frames: frames(65, 10) }),
  ).toBe('0:03  connecting · 0 kbit/s · 20.0 frames/s · 10 dropped');
  expect(format({ isLive: true, elapsedMs: 4_000, sentBytes: 185_000, frames: null })).toBe(
    '0:04  live · 1,000 kbit/s',
  );
});

test('[M-9] the plain report prints a status line every ten seconds', () => {
  const lines: string[] = [];
  const report = plainReport((line) => lines.push(line));
  report.log('live');
  for (let second = 1; second <= 25; second++) {
    report.update({ isLive: true, elapsedMs: second * 1_000, sentBytes: 0, frames: null });
  }
  expect(lines.map((line) => line.slice(0, 10))).toEqual(['live', '0:10  live', '0:20  live']);
});
