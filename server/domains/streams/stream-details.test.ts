import { beforeEach, describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import type { StreamDetailRow } from './detail-sql.ts';
import { StreamDetails } from './stream-details.ts';

const INTERVAL_MS = 250;

describe('what viewers are told of a stream', () => {
  let nowMs: number;
  let writes: number;
  let reads: { id: string; interval: number }[];
  let answer: () => Promise<StreamDetailRow | null>;
  let details: StreamDetails;
  const row = () => ({ quizInterval: reads.length }) as StreamDetailRow;

  beforeEach(() => {
    nowMs = 1_000;
    writes = 0;
    reads = [];
    answer = async () => row();
    details = new StreamDetails({
      store: {
        readStreamDetail: (asked) => {
          reads.push(asked);
          return answer();
        },
      },
      clock: { nowMs: () => nowMs },
      writes: () => writes,
      streamsMax: 2,
    });
  });

  const ask = (id = 'a') => details.read(id);

  test('[S-5] a thousand viewers who ask in one interval cost one read', async () => {
    const together = await Promise.all(Array.from({ length: 500 }, () => ask()));
    nowMs += INTERVAL_MS - 1;
    const later = await Promise.all(Array.from({ length: 500 }, () => ask()));
    expect(reads).toEqual([{ id: 'a', interval: 4 }]);
    expect(new Set([...together, ...later]).size).toBe(1);
  });

  test('[S-5] it is read again in the next interval, and for another stream', async () => {
    await ask();
    nowMs += INTERVAL_MS;
    await ask();
    await ask('b');
    expect(reads).toEqual([
      { id: 'a', interval: 4 },
      { id: 'a', interval: 5 },
      { id: 'b', interval: 5 },
    ]);
  });

  test('[S-5] who asks after a write here is told of it, also while an older read is under way', async () => {
    const under = Promise.withResolvers<StreamDetailRow>();
    answer = () => under.promise;
    const before = ask();
    writes++;
    answer = async () => row();
    expect(await ask()).toEqual({ quizInterval: 2 } as StreamDetailRow);
    under.resolve({ quizInterval: 1 } as StreamDetailRow);
    expect(await before).toEqual({ quizInterval: 1 } as StreamDetailRow);
    expect(await ask()).toEqual({ quizInterval: 2 } as StreamDetailRow);
    expect(reads).toHaveLength(2);
  });

  test('[S-5] what is not there is looked for each time, and so is what could not be read', async () => {
    answer = async () => null;
    expect(await ask()).toBeNull();
    answer = () => Promise.reject(new Unavailable('The database is unavailable.'));
    expect(await ask().catch((error) => error)).toBeInstanceOf(Unavailable);
    answer = async () => row();
    expect(await ask()).not.toBeNull();
    expect(reads).toHaveLength(3);
  });

  test('of more streams than are kept the others are read each time', async () => {
    for (const id of ['a', 'b', 'c', 'c', 'a']) await ask(id);
    expect(reads.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'c']);
  });
});
