import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { createLogger } from '../platform/logging.ts';
import type { Channel } from './channel.ts';
import { LiveSource } from './live-source.ts';
import type { Packager } from './packager/packager.ts';

const logger = createLogger('error', { write: () => {} });

function liveSource(drained: () => Promise<void>): LiveSource {
  const packager = { drained, end: async () => {} } as unknown as Packager;
  const channel = { streamId: 's' } as Channel;
  return new LiveSource(
    'id',
    'account',
    'rtmp',
    channel,
    () => packager,
    () => 0,
    logger,
  );
}

const promises = () => {
  Bun.gc(true);
  return heapStats().objectTypeCounts.Promise ?? 0;
};

test('the memory of a source does not grow with its pauses', async () => {
  const source = liveSource(async () => {});
  const before = promises();
  for (let n = 0; n < 10_000; n++) await source.drained();
  expect(promises() - before).toBeLessThan(1_000);
});

test('a pause ends with the source', async () => {
  const source = liveSource(() => new Promise(() => {}));
  const paused = source.drained();
  source.end('the sender left');
  await paused;
  await source.drained();
});
