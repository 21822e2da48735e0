import { afterEach, describe, expect, test } from 'bun:test';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { Scheduler } from '../../../test/support/scheduler.ts';
import { createVirtualRuntime } from '../../../test/support/simulation/virtual-runtime.ts';
import { createSharedChatSource } from '../../domains/chat/chat-source-shared.ts';
import { Unavailable } from '../../platform/errors.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import type { Sealing, SealOutcome } from '../feed/sealing-sql.ts';
import type { SealedEntry } from './seal-coordinator.ts';
import { SharedSealer, transientsOf } from './shared-sealer.ts';

const START = 7_000_000_000;
const NO_CHATS = { messages: [], questions: [], greetings: [], cheers: [], hearts: 0 };

function testSealer(seal: (sealing: Sealing) => Promise<SealOutcome>) {
  const chat = createSharedChatSource({ random: Math.random, unavailableReason: () => null });
  const log = new MemoryFeedLog({ readSealed: async () => [] }, START - 1);
  const published: SealedEntry[] = [];
  const served: SealedEntry[] = [];
  const errors: string[] = [];
  const collections: [number, number, boolean][] = [];
  const others = { served: -1, hasPublished: false, timeline: '7:1' };
  const timelines: string[] = [];
  const kept: number[] = [];
  const counting = { ends: Promise.resolve() };
  const sealer = new SharedSealer({
    clock: { nowMs: () => intervalStartMs(START + 1) },
    store: { sealInterval: seal },
    log,
    logger: { error: (_: object, message: string) => void errors.push(message) },
    coordinator: {
      collect: async (...args) => {
        collections.push(args);
        const batch = chat.nextBatch();
        const activeStreams = args[2] ? ['read'] : [];
        const { served, timeline } = others;
        return { batches: batch ? [batch.bytes] : [], served, activeStreams, timeline };
      },
      fence: async (timeline) => {
        if (timeline > others.timeline) others.timeline = timeline;
        return others.timeline;
      },
      keepClaim: async (interval) => void kept.push(interval),
      publish: async (entry, timeline) => {
        published.push(entry);
        timelines.push(timeline);
        return { isPublished: !others.hasPublished, published: START, timeline };
      },
      dataSetName: () => 'own',
    },
    presence: {
      async countsAtEndOf() {
        await counting.ends;
        return [
          ['present', 2],
          ['left', 0],
        ] as const;
      },
    },
    source: chat,
    follower: { apply: async (entry) => void served.push(entry) },
  });
  return {
    sealer,
    chat,
    published,
    timelines,
    served,
    collections,
    errors,
    others,
    kept,
    counting,
  };
}

afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

describe('a sealing', () => {
  test('[N-4] a sealing publishes the bodies to all nodes and serves them itself', async () => {
    const bodies = [{ streamId: 's', interval: START, body: '{}' }];
    const sealings: Sealing[] = [];
    const { sealer, chat, published, served } = testSealer(async (sealing) => {
      sealings.push(sealing);
      return { outcome: 'sealed', bodies };
    });
    chat.hearts('s', 3);
    await sealer.seal(START);
    expect(sealings).toMatchObject([{ after: START - 1, interval: START }]);
    expect(sealings[0]?.transients.find(({ streamId }) => streamId === 's')?.chats?.hearts).toBe(3);
    expect(published).toEqual([{ after: START - 1, interval: START, bodies }]);
    expect(served).toEqual(published);
  });

  test('[H-21] a sealing logs when webhook events are missing', async () => {
    const outcome = { outcome: 'sealed', bodies: [], eventLogError: 'the disk is full' } as const;
    const { sealer, published, errors } = testSealer(async () => outcome);
    await sealer.seal(START);
    expect(published).toHaveLength(1);
    expect(errors).toEqual(['webhook events were not logged: the disk is full']);
  });

  test('[N-4] [I-1] a sealing publishes nothing when another node was faster', async () => {
    for (const outcome of [
      { outcome: 'busy' },
      { outcome: 'conflict', watermark: START },
    ] as const) {
      const { sealer, published, served } = testSealer(async () => outcome);
      await sealer.seal(START);
      expect([published, served]).toEqual([[], []]);
      expect(sealer.isBusy()).toBe(false);
    }
  });

  test('[I-1] [N-22] a node does not serve what it sealed when another node has published the interval, maybe after the database lost it', async () => {
    const { sealer, published, served, others } = testSealer(async () => {
      return { outcome: 'sealed', bodies: [] };
    });
    others.hasPublished = true;
    await sealer.seal(START);
    expect([published.length, served.length]).toEqual([1, 0]);
  });

  test('[I-1] [N-22] before its first sealing on a promoted standby a node names the timeline and collects again', async () => {
    const tried: (string | undefined)[] = [];
    const { sealer, timelines, collections, others } = testSealer(async ({ timeline }) => {
      tried.push(timeline);
      return timeline === '7:2'
        ? { outcome: 'sealed', bodies: [] }
        : { outcome: 'other-timeline', timeline: '7:2' };
    });
    await sealer.seal(START);
    expect([tried, collections.length]).toEqual([['7:1', '7:2'], 2]);
    expect([others.timeline, ...timelines]).toEqual(['7:2', '7:2']);
  });

  test('[N-22] a sealing fails on an earlier primary, and when the timeline changes again', async () => {
    for (const [named, message] of [
      ['7:9', 'earlier primary'],
      ['7:1', 'changed its timeline again'],
    ] as const) {
      let number = 1;
      const { sealer, published, others } = testSealer(async () => {
        return { outcome: 'other-timeline', timeline: `7:${++number}` };
      });
      others.timeline = named;
      const error = await sealer.seal(START).catch((e) => e);
      expect(error).toBeInstanceOf(Unavailable);
      expect(error.message).toContain(message);
      expect([published.length, sealer.canSeal()]).toEqual([0, false]);
    }
  });

  test('[N-4] a node whose sealing failed is not chosen again for two seconds', async () => {
    const scheduler = new Scheduler(0);
    const nowMs = () => scheduler.nowMs;
    const startTimer = (run: () => void, delayMs: number) => scheduler.after(delayMs, run);
    replaceRuntime(
      createVirtualRuntime({ random: () => 0, systemMs: nowMs, monotonicMs: nowMs, startTimer }),
    );
    const { sealer } = testSealer(async () => {
      throw new Unavailable('The database is unavailable.');
    });
    expect(sealer.canSeal()).toBe(true);
    await expect(sealer.seal(START)).rejects.toThrow('unavailable');
    expect(sealer.isBusy()).toBe(false);
    expect(sealer.canSeal()).toBe(false);
    scheduler.advance(2_000);
    expect(sealer.canSeal()).toBe(true);
  });

  test('[N-4] a sealing keeps its claim while it counts viewers, and not in its transaction', async () => {
    const scheduler = new Scheduler(0);
    const startTimer = (run: () => void, delayMs: number, periodMs: number | null) => {
      let cancel = scheduler.after(delayMs, function tick() {
        if (periodMs !== null) cancel = scheduler.after(periodMs, tick);
        run();
      });
      return () => cancel();
    };
    const nowMs = () => scheduler.nowMs;
    replaceRuntime(
      createVirtualRuntime({ random: () => 0, systemMs: nowMs, monotonicMs: nowMs, startTimer }),
    );
    const transaction = Promise.withResolvers<SealOutcome>();
    const { sealer, kept, counting } = testSealer(() => transaction.promise);
    const counted = Promise.withResolvers<void>();
    counting.ends = counted.promise;
    const sealed = sealer.seal(START + 3);
    scheduler.advance(240);
    expect(kept).toEqual([START + 3, START + 3, START + 3, START + 3]);
    scheduler.advance(300);
    counted.resolve();
    scheduler.advance(300);
    expect(kept).toHaveLength(10);
    transaction.resolve({ outcome: 'busy' });
    await sealed;
  });

  /** A node that lacks intervals which others served, and a clock for its attempts to seal. */
  function nodeBehind() {
    let nowMs = 0;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
    const sealings: Sealing[] = [];
    const { sealer, others } = testSealer(async (sealing) => {
      sealings.push(sealing);
      return { outcome: 'busy' };
    });
    others.served = START + 5;
    const sealAt = (ms: number) => {
      nowMs = ms;
      return sealer.seal(START + 9);
    };
    return { sealer, sealings, sealAt };
  }

  test('[I-1] [N-22] a node without intervals that others served leaves them the time to write them back', async () => {
    const { sealings, sealAt } = nodeBehind();
    for (const ms of [0, 2_000, 3_999]) await sealAt(ms);
    expect(sealings).toEqual([]);
    // No other node is left that has them.
    await sealAt(4_000);
    expect(sealings).toMatchObject([{ after: START - 1, interval: START + 9 }]);
  });

  test('[I-1] [N-22] the time to write intervals back begins when the database answers again', async () => {
    const { sealer, sealings, sealAt } = nodeBehind();
    await sealAt(0);
    sealer.databaseFailed();
    for (const ms of [5_000, 8_999]) await sealAt(ms);
    expect(sealings).toEqual([]);
    await sealAt(9_000);
    expect(sealings).toHaveLength(1);
  });

  test('[N-23] a sealing names the data set of its Redis, and logs when others seal with another one', async () => {
    const sealings: Sealing[] = [];
    const { sealer, errors } = testSealer(async (sealing) => {
      sealings.push(sealing);
      return { outcome: 'conflict', watermark: START, dataSet: 'other' };
    });
    for (let sealing = 0; sealing < 7; sealing++) await sealer.seal(START);
    expect(errors).toEqual([]);
    await sealer.seal(START);
    expect(sealings[0]?.dataSet).toBe('own');
    expect(errors).toEqual([expect.stringContaining('use another Redis')]);
  });

  test('[N-4] a sealing is one at a time on a node, also when the database never answers', async () => {
    let sealings = 0;
    const { sealer } = testSealer(() => {
      sealings++;
      return new Promise(() => {});
    });
    void sealer.seal(START);
    await Bun.sleep(1);
    await sealer.seal(START + 1);
    expect(sealer.isBusy()).toBe(true);
    expect(sealings).toBe(1);
  });

  test('[F-27] a sealing has due view counts of streams with viewers, of those that lost the last, and of active ones', async () => {
    const sealings: Sealing[] = [];
    const { sealer, collections } = testSealer(async (sealing) => {
      sealings.push(sealing);
      return { outcome: 'busy' };
    });
    // The first interval that has `interval % 4 = 3`.
    const due = START + ((3 - (START % 4) + 4) % 4);
    await sealer.seal(due);
    expect(collections.at(-1)?.[2]).toBe(true);
    const counts = sealings[0]?.transients.map(({ streamId, viewCount }) => [
      streamId,
      viewCount?.value,
    ]);
    expect(new Map(counts as [string, number][])).toEqual(
      new Map([
        ['present', 2],
        ['left', 0],
        ['read', 0],
      ]),
    );
  });
});

test('[F-15] [F-27] a stream that is active and has viewers gets one view count and its own chats', () => {
  const chats = new Map([['both', { ...NO_CHATS, hearts: 1 }]]);
  expect(transientsOf(chats, [['both', 1_234]], ['both', 'silent'])).toEqual([
    {
      streamId: 'both',
      viewCount: { value: 1_234, formatted: '1.2K' },
      chats: { ...NO_CHATS, hearts: 1 },
    },
    { streamId: 'silent', viewCount: { value: 0, formatted: '0' }, chats: null },
  ]);
});
