import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import type { SealedBody, SealedPage } from './sealed-sql.ts';
import { type PageRead, StoredIntervals } from './stored-intervals.ts';

const SEALED = 1_000;

/** Intervals of a stream, each with a body of this size but for the empty ones; and the bytes of each read. */
function openStored(bodyBytes: number, isEmpty: (interval: number) => boolean = () => false) {
  const reads: number[] = [];
  const readSealed = async ({ streamId, from, to, limit, bytesMax = Infinity }: SealedPage) => {
    const rows: SealedBody[] = [];
    let bytes = 0;
    for (
      let interval = from;
      interval <= to && rows.length < limit && bytes < bytesMax;
      interval++
    ) {
      if (isEmpty(interval)) continue;
      rows.push({ streamId, interval, body: `${interval} `.padEnd(bodyBytes, 'x') });
      bytes += bodyBytes;
    }
    reads.push(bytes);
    return rows;
  };
  return { stored: new StoredIntervals({ readSealed }), reads };
}

const text = (body: Uint8Array | undefined) => new TextDecoder().decode(body).split(' ')[0];

for (const bodyBytes of [100, 20_000, 300_000]) {
  test(`[F-3] every old interval with ${bodyBytes} bytes is found, by reads of bounded size`, async () => {
    const { stored, reads } = openStored(bodyBytes, (interval) => interval % 5 === 0);
    for (const from of [0, 63, 64, 130, SEALED - 20]) {
      for (let interval = from; interval <= Math.min(from + 20, SEALED); interval++) {
        const { bodies, end } = await stored.pageWith('stream', interval, SEALED);
        expect(end).toBeGreaterThanOrEqual(interval);
        expect(end).toBeLessThanOrEqual(SEALED);
        expect(text(bodies.get(interval))).toBe(interval % 5 === 0 ? '' : `${interval}`);
      }
    }
    expect(Math.max(...reads)).toBeLessThan(256 * 1024 + bodyBytes);
  });
}

test('[F-3] a replay in order reads each old interval about once', async () => {
  for (const bodyBytes of [100, 20_000, 120_000]) {
    const { stored, reads } = openStored(bodyBytes);
    for (let interval = 0; interval < 256; interval++)
      await stored.pageWith('stream', interval, SEALED);
    const bytes = reads.reduce((sum, read) => sum + read, 0);
    expect(bytes).toBeLessThan(2 * 256 * bodyBytes);
  }
});

test('[F-3] the limit of one client ends the read of a page for no other', async () => {
  const asked: (string | null | undefined)[] = [];
  const readSealed = async ({ streamId, from, client }: PageRead): Promise<SealedBody[]> => {
    asked.push(client);
    if (client === 'busy') throw new Unavailable('Too many at once.');
    return [{ streamId, interval: from, body: 'body' }];
  };
  const stored = new StoredIntervals({ readSealed });
  const read = async (client: string) => {
    const { bodies } = await stored.pageWith('stream', 64, SEALED, () => client);
    return bodies.size;
  };
  const [busy, ...others] = await Promise.allSettled(['busy', 'one', 'two', 'three'].map(read));
  expect(busy?.status).toBe('rejected');
  expect(others).toEqual(others.map(() => ({ status: 'fulfilled', value: 1 })));
  expect(asked).toEqual(['busy', 'one']);
});
