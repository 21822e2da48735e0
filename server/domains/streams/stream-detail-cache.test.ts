import { beforeEach, describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { StreamDetailCache } from './stream-detail-cache.ts';
import type { StreamDetailRow } from './stream-detail-sql.ts';

const INTERVAL_MS = 250;

describe('StreamDetailCache', () => {
  let nowMs: number;
  let writes: number;
  let reads: { id: string; interval: number }[];
  let respond: () => Promise<StreamDetailRow | null>;
  let details: StreamDetailCache;
  const row = () => ({ quizInterval: reads.length }) as StreamDetailRow;

  beforeEach(() => {
    nowMs = 1_000;
    writes = 0;
    reads = [];
    respond = async () => row();
    details = new StreamDetailCache({
      store: {
        readStreamDetail: (input) => {
          reads.push(input);
          return respond();
        },
      },
      clock: { nowMs: () => nowMs },
      writes: () => writes,
      streamsMax: 2,
    });
  });

  const read = (id = 'a') => details.read(id);

  test('[S-5] StreamDetailCache reads once for a thousand requests in one interval', async () => {
    const together = await Promise.all(Array.from({ length: 500 }, () => read()));
    nowMs += INTERVAL_MS - 1;
    const later = await Promise.all(Array.from({ length: 500 }, () => read()));
    expect(reads).toEqual([{ id: 'a', interval: 4 }]);
    expect(new Set([...together, ...later]).size).toBe(1);
  });

  test('[S-5] StreamDetailCache reads again in the next interval, and for another stream', async () => {
    await read();
    nowMs += INTERVAL_MS;
    await read();
    await read('b');
    expect(reads).toEqual([
      { id: 'a', interval: 4 },
      { id: 'a', interval: 5 },
      { id: 'b', interval: 5 },
    ]);
  });

  test('[S-5] StreamDetailCache includes a write of this process, also while an older read is pending', async () => {
    const pending = Promise.withResolvers<StreamDetailRow>();
    respond = () => pending.promise;
    const before = read();
    writes++;
    respond = async () => row();
    expect(await read()).toEqual({ quizInterval: 2 } as StreamDetailRow);
    pending.resolve({ quizInterval: 1 } as StreamDetailRow);
    expect(await before).toEqual({ quizInterval: 1 } as StreamDetailRow);
    expect(await read()).toEqual({ quizInterval: 2 } as StreamDetailRow);
    expect(reads).toHaveLength(2);
  });

  test('[S-5] StreamDetailCache reads missing streams, and after errors, each time', async () => {
    respond = async () => null;
    expect(await read()).toBeNull();
    respond = () => Promise.reject(new Unavailable('The database is unavailable.'));
    expect(await read().catch((error) => error)).toBeInstanceOf(Unavailable);
    respond = async () => row();
    expect(await read()).not.toBeNull();
    expect(reads).toHaveLength(3);
  });

  test('StreamDetailCache reads streams beyond its capacity each time', async () => {
    for (const id of ['a', 'b', 'c', 'c', 'a']) await read(id);
    expect(reads.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'c']);
  });
});
