import { describe, expect, test } from 'bun:test';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { LiveShows, type LiveSnapshot } from './live-shows.ts';
import type { LiveShow } from './live-sql.ts';

/** `LiveShows` with a fake store and a manual timer. */
function fixture() {
  const ticks = new Set<() => void>();
  const defects: unknown[] = [];
  const reads: string[] = [];
  let answer: () => Promise<LiveShow> = async () => ({ quiz: null }) as LiveShow;
  let count: () => number = () => 7;
  const shows = new LiveShows({
    nowMs: () => 1_000,
    read: (id) => {
      reads.push(id);
      return answer();
    },
    countAnswers: async () => ({ counts: [], nextSeat: null }),
    count: () => count(),
    startPolling: (tick) => {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
    onError: (error) => defects.push(error),
  });
  return {
    shows,
    ticks,
    defects,
    reads,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
    countWith: (next: typeof count) => {
      count = next;
    },
    /** Watches a show. @returns the snapshots that it receives */
    watch() {
      const received: LiveSnapshot[] = [];
      shows.watch('a', 'me', (snapshot) => received.push(snapshot));
      return received;
    },
    async tick() {
      for (const each of ticks) each();
      for (let n = 0; n < 8; n++) await Promise.resolve();
    },
  };
}

const unavailable = async () => {
  throw new Unavailable('The database is unavailable.');
};

describe('LiveShows', () => {
  test('[B-1] LiveShows sends the state at once and periodically', async () => {
    const { watch, tick } = fixture();
    const received = watch();
    await tick();
    await tick();
    expect(received.length).toBeGreaterThanOrEqual(2);
    expect(received[0]?.count).toBe(7);
  });

  test('LiveShows reads a show once for all listeners, until the last one leaves', async () => {
    const { shows, tick, reads, ticks } = fixture();
    const received: string[] = [];
    const first = shows.watch('a', 'me', () => received.push('first'));
    const second = shows.watch('a', 'me', () => received.push('second'));
    await tick();
    const before = reads.length;
    received.length = 0;
    await tick();
    expect(reads.length).toBe(before + 1);
    expect(received).toEqual(['first', 'second']);
    first();
    first();
    expect(shows.size).toBe(1);
    second();
    expect([shows.size, ticks.size]).toEqual([0, 0]);
  });

  test('[B-1] LiveShows sends the last snapshot to a new listener alone, without a read', async () => {
    const { watch, tick, reads } = fixture();
    const first = watch();
    await tick();
    const before = [reads.length, first.length];
    const second = watch();
    expect(second).toEqual([]);
    await Promise.resolve();
    expect(second).toEqual(first.slice(-1));
    expect([reads.length, first.length]).toEqual(before);
  });

  test('[B-4] LiveShows sends no old snapshot to a new listener while the database is unavailable', async () => {
    const { watch, tick, answerWith } = fixture();
    watch();
    await tick();
    answerWith(unavailable);
    await tick();
    const received = watch();
    await Promise.resolve();
    expect(received).toEqual([]);
  });

  test('LiveShows does not start a read while another is running', async () => {
    const { shows, tick, reads, answerWith } = fixture();
    answerWith(() => new Promise(() => {}));
    shows.watch('a', 'me', () => {});
    await tick();
    await tick();
    expect(reads).toHaveLength(1);
  });

  test('[B-1] LiveShows reads a few shows at once, and accounts take turns', async () => {
    const { shows, reads, answerWith } = fixture();
    const waiting: ((show: LiveShow) => void)[] = [];
    answerWith(() => new Promise((resolve) => waiting.push(resolve)));
    for (let show = 0; show < 300; show++) shows.watch(`many ${show}`, 'one account', () => {});
    shows.watch('few', 'another account', () => {});
    expect(reads).toHaveLength(4);
    for (let n = 0; n < 2; n++) {
      waiting.shift()?.({ quiz: null } as LiveShow);
      for (let turns = 0; turns < 8; turns++) await Promise.resolve();
    }
    expect(reads).toHaveLength(6);
    expect(reads).toContain('few');
  });

  test('[B-4] LiveShows sends nothing while the database is unavailable, and resumes after it', async () => {
    const { watch, tick, answerWith, defects } = fixture();
    answerWith(unavailable);
    const received = watch();
    await tick();
    expect([received.length, defects.length]).toEqual([0, 0]);
    answerWith(async () => ({ quiz: null }) as LiveShow);
    await tick();
    expect(received).toHaveLength(1);
  });

  test('[B-1] LiveShows has no count while the realtime backend is unavailable', async () => {
    const { watch, tick, countWith } = fixture();
    countWith(() => {
      throw new Unavailable('Redis is unavailable.');
    });
    const received = watch();
    await tick();
    expect(received[0]?.count).toBeNull();
  });

  test('LiveShows reports an unexpected error and continues', async () => {
    const { watch, tick, answerWith, defects } = fixture();
    answerWith(async () => {
      throw new Error('a defect');
    });
    const received = watch();
    await tick();
    expect(defects.length).toBeGreaterThan(0);
    answerWith(async () => ({ quiz: null }) as LiveShow);
    await tick();
    expect(received).toHaveLength(1);
  });

  test('[Y-10] LiveShows notifies listeners when a show was removed', async () => {
    const { shows, tick, answerWith, defects } = fixture();
    const received: string[] = [];
    shows.watch(
      'a',
      'me',
      () => received.push('there'),
      () => received.push('gone'),
    );
    await tick();
    expect(received).toContain('there');
    received.length = 0;
    answerWith(async () => {
      throw new DomainError('not-found', 'This account has no such stream.');
    });
    await tick();
    expect([received, defects]).toEqual([['gone'], []]);
  });
});
