import { expect, test } from 'bun:test';
import { MemoryFeedLog } from './feed-log-memory.ts';
import type { SealedBody } from './sealing-sql.ts';

const STREAM = 'a stream';
const decoder = new TextDecoder();

test('[I-1] a read of the record that is under way never stands in for intervals sealed since', async () => {
  const stored: SealedBody[] = [];
  const started = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let reads = 0;
  const log = new MemoryFeedLog(
    {
      // Like a snapshot: it sees what was stored when it was asked for, and answers later.
      readSealed: async ({ from, to }) => {
        const seen = stored.filter(({ interval }) => interval >= from && interval <= to);
        if (reads++ === 0) {
          started.resolve();
          await released.promise;
        }
        return seen;
      },
    },
    100,
  );
  const early = log.read(STREAM, 100);
  await started.promise;
  const body = '{"interval":101,"events":[{"type":"tick","data":null}]}';
  stored.push({ streamId: STREAM, interval: 101, body });
  log.skipTo(120);
  const late = log.read(STREAM, 101);
  released.resolve();
  expect(decoder.decode(await early)).toBe('{"interval":100,"events":[]}');
  expect(decoder.decode(await late)).toBe(body);
});
