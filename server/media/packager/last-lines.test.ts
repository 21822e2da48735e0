import { expect, test } from 'bun:test';
import { LastLines } from './last-lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('[M-42] LastLines keeps the last 20 lines', () => {
  const lines = new LastLines();
  for (let i = 0; i < 50; i++) lines.push(bytes(`line ${i}\n`));
  expect(lines.list()).toEqual(Array.from({ length: 20 }, (_, i) => `line ${i + 30}`));
});

test('[M-42] LastLines includes an unfinished line', () => {
  const lines = new LastLines();
  lines.push(bytes('first\nsec'));
  expect(lines.list()).toEqual(['first', 'sec']);
  lines.push(bytes('ond\r\n\r\n'));
  expect(lines.list()).toEqual(['first', 'second']);
});

test('[M-42] LastLines truncates lines and removes control characters', () => {
  const lines = new LastLines();
  lines.push(bytes(`\u001b[2Jtitle\u0007 of a track\n${'x'.repeat(100_000)}`));
  lines.push(bytes('x'.repeat(100_000)));
  expect(lines.list()).toEqual(['[2Jtitle  of a track', 'x'.repeat(300)]);
});
