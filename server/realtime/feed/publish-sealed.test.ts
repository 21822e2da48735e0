import { expect, test } from 'bun:test';
import { MemoryFeedLog } from './feed-log-memory.ts';
import { APPENDED_MAX, publishSealed } from './publish-sealed.ts';

const START = 7_000_000_000;

test('[N-10] after a long absence the last moments are in memory: another outage does not touch them', async () => {
  const log = new MemoryFeedLog({ readSealed: () => Promise.reject(new Error('away')) }, START);
  const to = START + 10 * APPENDED_MAX;
  const first = to - APPENDED_MAX + 1;
  const bodies = [
    { streamId: 's', interval: first - 1, body: 'before' },
    { streamId: 's', interval: first, body: 'first' },
    { streamId: 's', interval: to, body: 'last' },
  ];
  publishSealed(log, to, bodies);
  const text = (interval: number) =>
    new TextDecoder().decode(log.read('s', interval) as Uint8Array);
  expect(text(first)).toBe('first');
  for (let n = first + 1; n < to; n++) expect(text(n)).toBe(`{"interval":${n},"events":[]}`);
  expect(text(to)).toBe('last');
  const error = await Promise.resolve(log.read('s', first - 1)).catch((e) => e);
  expect(error).toBeInstanceOf(Error);
});
