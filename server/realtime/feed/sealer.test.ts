import { afterEach, describe, expect, mock, spyOn, test } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { createMemoryChatSource } from '../../domains/chat/chat-source-memory.ts';
import { ViewCountEvents } from '../presence/view-count-events.ts';
import { MemoryFeedLog } from './feed-log-memory.ts';
import { Sealer, TransientBuffer } from './sealer.ts';
import type { Sealing } from './sealing-sql.ts';

const INTERVAL = 7_000_000_000;
const STREAM = 'a stream';

/** A sealer on a fake database, in which everything before `INTERVAL` is sealed. */
function testSealer(nowMs: () => number, onSealing: (sealing: Sealing) => void = () => {}) {
  const store = {
    sealInterval: async (sealing: Sealing) => {
      onSealing(sealing);
      return { outcome: 'sealed' as const, bodies: [] };
    },
    readWatermark: async () => log.watermark(),
    readSealedOfAll: async () => ({ timeline: '', bodies: [] }),
  };
  const log = new MemoryFeedLog({ readSealed: async () => [] }, INTERVAL - 1);
  const chat = createMemoryChatSource({ random: () => 0.5 });
  const counts = new ViewCountEvents({ countsAtEndOf: () => [] });
  const sealer = new Sealer({
    clock: { nowMs },
    store,
    log,
    transients: new TransientBuffer({ source: chat, counts, activeStreams: () => [] }),
    logger: pino({ level: 'silent' }),
    onSealed: () => {},
  });
  return { sealer, log, chat };
}

describe('a tick', () => {
  afterEach(() => mock.restore());

  test('[F-11] seals an interval that ends while it reads the clock, now or at the next tick', async () => {
    for (let readings = 1; readings <= 4; readings++) {
      const endMs = intervalStartMs(INTERVAL + 1);
      let readsLeft = readings;
      const { sealer, log } = testSealer(() => (readsLeft-- > 0 ? endMs - 1 : endMs));
      const delays: number[] = [];
      const fakeTimeout = (_tick: () => void, ms: number) => {
        delays.push(ms);
        return 0;
      };
      spyOn(globalThis, 'setTimeout').mockImplementation(
        fakeTimeout as unknown as typeof setTimeout,
      );
      sealer.start();
      mock.restore();
      await Bun.sleep(0);
      const inTime = log.watermark() === INTERVAL || delays[0] === 1;
      expect({ readings, inTime }).toEqual({ readings, inTime: true });
    }
  });
});

test('[F-11] [F-16] a sealer seals an interval that ended during a long commit right after it', async () => {
  let nowMs = intervalStartMs(INTERVAL + 1);
  let commitsMs = [270, 600, 10];
  const { sealer, log } = testSealer(
    () => nowMs,
    () => {
      nowMs += commitsMs[0] ?? 0;
      commitsMs = commitsMs.slice(1);
    },
  );
  await sealer.seal();
  expect(log.watermark()).toBe(intervalAt(nowMs) - 1);
  expect(commitsMs).toEqual([]);
});

describe('a sealer that stops', () => {
  test('[C-11] [O-11] seals the current interval with what was posted before', async () => {
    const startMs = performance.now();
    const hearts: (number | undefined)[] = [];
    const { sealer, log, chat } = testSealer(
      () => intervalStartMs(INTERVAL) + 150 + performance.now() - startMs,
      ({ transients }) => hearts.push(transients[0]?.chats?.hearts),
    );
    sealer.start();
    chat.hearts(STREAM, 3);
    await sealer.stop();
    expect(hearts[0]).toBe(3);
    expect(log.watermark()).toBeGreaterThanOrEqual(INTERVAL);
  });

  test('[O-11] gives up after a second when the database fails', async () => {
    const startMs = performance.now();
    let tries = 0;
    const { sealer, log } = testSealer(
      // Time runs twice as fast.
      () => intervalStartMs(INTERVAL) + 150 + 2 * (performance.now() - startMs),
      () => {
        tries++;
        throw new Error('the disk failed');
      },
    );
    sealer.start();
    await sealer.stop();
    expect(tries).toBeGreaterThan(0);
    expect(log.watermark()).toBe(INTERVAL - 1);
  });
});
