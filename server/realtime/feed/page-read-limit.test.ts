import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from './feed-log-memory.ts';
import { limitPageReads } from './page-read-limit.ts';
import type { SealedBody } from './sealed-sql.ts';

const STREAM = 'a stream';

describe('reads of many older intervals', () => {
  const OLD = 7_000_000_000;

  /** Two logs on a database that answers when the test says so, with the reads that it got. */
  function openSlowLog() {
    const pending: {
      streamId: string;
      from: number;
      answer: PromiseWithResolvers<SealedBody[]>;
    }[] = [];
    const readSealed = ({ streamId, from }: { streamId: string; from: number }) => {
      const answer = Promise.withResolvers<SealedBody[]>();
      pending.push({ streamId, from, answer });
      return answer.promise;
    };
    const store = limitPageReads({ readSealed });
    const [log, ofWorker] = [1, 2].map(() => new MemoryFeedLog(store, OLD + 10_000_000));
    return { log: log as MemoryFeedLog, ofWorker: ofWorker as MemoryFeedLog, pending };
  }

  test('[R-15] leave the database free for others: a few pages are read at once, and streams take turns', async () => {
    const { log, ofWorker, pending } = openSlowLog();
    const many = Array.from({ length: 11 }, (_, n) =>
      (n % 2 === 0 ? log : ofWorker).range(STREAM, OLD + n, OLD + n),
    );
    const other = log.range('another stream', OLD, OLD);
    expect(pending.length).toBe(4);
    for (let n = 0; n < many.length + 1; n++) {
      pending[n]?.answer.resolve([]);
      await Bun.sleep(0);
      expect(pending.length).toBe(Math.min(n + 5, many.length + 1));
    }
    expect(pending.findIndex(({ streamId }) => streamId !== STREAM)).toBeLessThan(6);
    await Promise.all([...many, other]);
  });

  test('[R-15] get a 503 when the database gives none, without waiting one after the other', async () => {
    const { log, pending } = openSlowLog();
    const reads = Array.from({ length: 12 }, (_, n) => log.range(STREAM, OLD + n, OLD + n));
    pending[0]?.answer.reject(new Unavailable('The database did not answer in time.'));
    const waiting = await Promise.allSettled([...reads.slice(0, 1), ...reads.slice(4)]);
    for (const result of waiting) {
      expect(result.status === 'rejected' && result.reason).toBeInstanceOf(Unavailable);
    }
    for (const { answer } of pending) answer.resolve([]);
    await Promise.all(reads.slice(1, 4));
    const next = log.range(STREAM, OLD, OLD);
    pending.at(-1)?.answer.resolve([]);
    expect((await next).page).toEqual([]);
  });

  /** Answers all reads in the order in which they come. @returns the names of their streams */
  async function answerAll(pending: ReturnType<typeof openSlowLog>['pending']): Promise<string[]> {
    const order: string[] = [];
    while (pending.length > 0) {
      const next = pending.shift();
      order.push(next?.streamId ?? '');
      next?.answer.resolve([]);
      await Bun.sleep(0);
    }
    return order;
  }

  const isFull = (result: unknown) => result instanceof Unavailable;

  test('[F-3] let networks take turns, and the clients of a network', async () => {
    const { log, ofWorker, pending } = openSlowLog();
    const read = (streamId: string, client: string | null, n = 0) => {
      const of = n % 2 === 0 ? log : ofWorker;
      return of.range(streamId, OLD + n, OLD + n, () => client).catch((error) => error);
    };
    const many = Array.from({ length: 600 }, (_, n) => read(STREAM, '198.51.100.7', n));
    const ofMany = Array.from({ length: 400 }, (_, n) =>
      read('an IPv6 network', `2001:db8:1:${n.toString(16)}::/64`, n),
    );
    const others = [
      read('same network', '198.51.7.8'),
      read('other network', '2001:db8:2:1::/64'),
      read('unknown', null),
    ];
    const order = await answerAll(pending);
    expect((await Promise.all(many)).filter(isFull)).toHaveLength(600 - 4 - 8);
    expect((await Promise.all(ofMany)).filter(isFull)).toHaveLength(0);
    expect((await Promise.all(others)).filter(isFull)).toHaveLength(0);
    expect(order.indexOf('other network')).toBeLessThan(10);
    expect(order.indexOf('unknown')).toBeLessThan(12);
    // Four of the other client run, and four wait for the turn of the network.
    expect(order.indexOf('same network')).toBeLessThan(30);
  });

  test('[F-3] share a read of the same page', async () => {
    const { log, pending } = openSlowLog();
    const client = () => '198.51.100.7';
    const reads = Array.from({ length: 1_000 }, () => log.read(STREAM, OLD, client));
    expect(await answerAll(pending)).toEqual([STREAM]);
    expect(await Promise.all(reads)).toHaveLength(1_000);
  });

  test('[R-15] get a 503 at once when too many wait', async () => {
    const { log, pending } = openSlowLog();
    const reads = Array.from({ length: 4 + 8 }, (_, n) => log.range(STREAM, OLD + n, OLD + n));
    const error = await log.range(STREAM, OLD, OLD).catch((reason) => reason);
    expect(error).toBeInstanceOf(Unavailable);
    while (pending.length > 0) {
      pending.shift()?.answer.resolve([]);
      await Bun.sleep(0);
    }
    expect((await Promise.all(reads)).length).toBe(4 + 8);
  });
});
