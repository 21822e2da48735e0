import { describe, expect, test } from 'bun:test';
import pino from 'pino';
import { Unavailable } from '../../platform/errors.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { FeedHealth } from './feed-health.ts';
import type { SealedEntry, Verdict } from './seal-coordinator.ts';
import { SealFailover } from './seal-failover.ts';
import { DatabaseRolledBack } from './tail-repair.ts';

const START = 7_000_000_000;

/** Late sealing of one node; `claims` are the verdicts it is given, the last one for ever. */
function testLate(claims: Verdict[]) {
  const log = new MemoryFeedLog({ readSealed: async () => [] }, START);
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line).msg) });
  const trouble = new FeedHealth(
    () => null,
    logger,
    () => 0,
  );
  const state = {
    watermark: START,
    isUnavailable: false,
    wentBack: null as Error | null,
    isBusy: false,
    /** Sealings wait for this. */
    stall: null as Promise<void> | null,
    sealed: 0,
    claims: 0,
  };
  const published: SealedEntry[] = [];
  const late = new SealFailover({
    log,
    parts: {
      claim: async () => {
        const verdict = claims[Math.min(state.claims++, claims.length - 1)] ?? 'wait';
        return { verdict, waitMs: 10 };
      },
      publish: async (entry) => void published.push(entry),
    },
    sealer: {
      isBusy: () => state.isBusy,
      seal: async (interval) => {
        state.sealed++;
        state.isBusy = state.stall !== null;
        await state.stall;
        state.isBusy = false;
        log.append(interval, []);
      },
    },
    follower: {
      catchUp: async () => {
        if (state.isUnavailable) throw new Unavailable('the database is unavailable');
        if (state.wentBack) throw state.wentBack;
        if (state.watermark <= log.sealedTo()) return null;
        const entry = { after: log.sealedTo(), interval: state.watermark, bodies: [] };
        log.append(state.watermark, []);
        return entry;
      },
    },
    trouble,
    redisUnavailable: () => null,
    random: () => 0.5,
  });
  return { late, log, trouble, state, published, lines };
}

const until = async (done: () => boolean) => {
  while (!done()) await Bun.sleep(2);
};

describe('an interval that is not sealed in time', () => {
  test('[N-4] nothing is done when it is', async () => {
    const { late, log, state } = testLate(['seal']);
    late.expect(START + 1);
    log.append(START + 1, []);
    await Bun.sleep(120);
    expect(state).toMatchObject({ claims: 0, sealed: 0 });
    late.stop();
  });

  test('[N-4] is sealed by a node that is told to, after it has waited for others', async () => {
    const { late, log, state } = testLate(['wait', 'wait', 'seal']);
    late.expect(START + 1);
    await until(() => log.sealedTo() === START + 1);
    expect(state).toMatchObject({ claims: 3, sealed: 1 });
    late.stop();
  });

  test('[N-4] [N-7] that was sealed by a node that died then is found in the database, for all', async () => {
    const { late, log, state, published } = testLate(['wait']);
    state.watermark = START + 1;
    late.expect(START + 1);
    await until(() => log.sealedTo() === START + 1);
    expect(published).toEqual([{ after: START, interval: START + 1, bodies: [] }]);
    expect(state.claims).toBe(0);
    late.stop();
  });

  test('[N-4] is left to others while a sealing is stuck here', async () => {
    const { late, log, state } = testLate(['seal']);
    state.isBusy = true;
    late.expect(START + 1);
    await Bun.sleep(200);
    expect(state.claims).toBe(0);
    state.watermark = START + 1;
    await until(() => log.sealedTo() === START + 1);
    late.stop();
  });

  test('[N-10] because the database is unavailable: that is known, tried again, and said once', async () => {
    const { late, log, state, trouble, lines } = testLate(['seal']);
    state.isUnavailable = true;
    late.expect(START + 1);
    await until(() => trouble.reason() !== null);
    expect(trouble.reason()).toBe('the database is unavailable');
    expect(trouble.refusal()).toBe('The database is unavailable.');
    late.expect(START + 2);
    await Bun.sleep(500);
    expect(state.claims).toBe(0);
    state.isUnavailable = false;
    await until(() => log.sealedTo() === START + 2);
    expect(trouble.reason()).toBeNull();
    trouble.healed(START + 2, 0);
    trouble.healed(START + 3, 0);
    expect(lines).toEqual(['sealing is held up', 'sealing goes on']);
    late.stop();
  });

  test('[N-10] because the database went away under a sealing here: that is known, and heals', async () => {
    const { late, log, state, trouble } = testLate(['seal', 'wait']);
    const stall = Promise.withResolvers<void>();
    state.stall = stall.promise;
    late.expect(START + 1);
    await until(() => state.sealed === 1);
    state.isUnavailable = true;
    late.expect(START + 2);
    await until(() => trouble.reason() !== null);
    state.isUnavailable = false;
    stall.resolve();
    await until(() => log.sealedTo() === START + 1);
    state.watermark = START + 2;
    await until(() => log.sealedTo() === START + 2);
    expect(trouble.reason()).toBeNull();
    late.stop();
  });

  test('[N-10] by others, while only this node does not reach the database: their news may be late', async () => {
    const { late, log, state, trouble } = testLate(['wait']);
    state.isUnavailable = true;
    late.expect(START + 1);
    await until(() => trouble.reason() !== null);
    log.append(START + 1, []);
    trouble.healed(START + 1, 0);
    await Bun.sleep(250);
    late.expect(START + 2);
    await Bun.sleep(100);
    expect(trouble.reason()).toBeNull();
    await until(() => trouble.reason() !== null);
    late.stop();
  });

  test('[N-22] because the database went back: that is an error in the log, once, until it is mended', async () => {
    const { late, log, state, trouble, lines } = testLate(['seal']);
    state.wentBack = new DatabaseRolledBack(START - 2, START);
    late.expect(START + 1);
    await until(() => trouble.reason() !== null);
    expect(trouble.reason()).toContain(`${START - 2}`);
    await Bun.sleep(400);
    expect(state.claims).toBe(0);
    state.wentBack = null;
    await until(() => log.sealedTo() === START + 1);
    expect(trouble.reason()).toBeNull();
    expect(lines).toEqual([expect.stringContaining('the database lost')]);
    late.stop();
  });
});
