import { expect, test } from 'bun:test';
import { plainReport, statusLines } from './play-report.ts';

test('[M-9] a line tells what is sent now, and what was left out', () => {
  const lineOf = statusLines();
  const frames = (drawn: number, skipped: number) => ({ drawn, skipped });
  const state = { isLive: true, elapsedMs: 1_000, sentBytes: 60_000, frames: frames(25, 0) };
  expect(lineOf(state)).toBe('0:01  live · 480 kbit/s · 25.0 frames/s · 0 left out');
  expect(
    lineOf({ isLive: false, elapsedMs: 3_000, sentBytes: 60_000, frames: frames(65, 10) }),
  ).toBe('0:03  connecting · 0 kbit/s · 20.0 frames/s · 10 left out');
  expect(lineOf({ isLive: true, elapsedMs: 4_000, sentBytes: 185_000, frames: null })).toBe(
    '0:04  live · 1,000 kbit/s',
  );
});

test('[M-9] where there is no terminal, there is a line each ten seconds', () => {
  const lines: string[] = [];
  const report = plainReport((line) => lines.push(line));
  report.say('live');
  for (let second = 1; second <= 25; second++) {
    report.show({ isLive: true, elapsedMs: second * 1_000, sentBytes: 0, frames: null });
  }
  expect(lines.map((line) => line.slice(0, 10))).toEqual(['live', '0:10  live', '0:20  live']);
});
