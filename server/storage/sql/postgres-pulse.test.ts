import { expect, test } from 'bun:test';
import { Pulse } from './postgres-pulse.ts';

/** What the pulse says in each of these turns: `w` waits, `h` waits and hears, `-` neither. */
function signsOf(turns: string): string[] {
  const pulse = new Pulse();
  return [...turns].map((turn) => {
    if (turn === 'h') pulse.hear();
    return pulse.turn(turn !== '-');
  });
}

const lastOf = (turns: string) => signsOf(turns).at(-1);

test('[N-10] a server is asked after 75 ms of silence, and away after 250 ms', () => {
  expect(signsOf('wwwwwwwwww')).toEqual([
    ...['fine', 'fine'],
    ...['ask', 'ask', 'ask', 'ask', 'ask', 'ask', 'ask'],
    'away',
  ]);
});

test('any sign of life starts the count anew', () => {
  expect(lastOf('wwwwwwwwwhwwwwwwwww')).toBe('ask');
  expect(lastOf('wwwwwwwwwhwwwwwwwwww')).toBe('away');
});

test('silence counts only while something waits', () => {
  expect(lastOf(`${'-'.repeat(30)}ww`)).toBe('fine');
  expect(lastOf('wwwwwwwww-wwwwwwwww')).toBe('ask');
});

test('[N-11] an idle connection is asked once a second', () => {
  const asked = signsOf('-'.repeat(40));
  expect(asked.slice(0, 39).every((sign) => sign === 'fine')).toBe(true);
  expect(asked[39]).toBe('ask');
});
