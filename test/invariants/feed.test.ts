import { afterEach, describe, expect, test } from 'bun:test';
import { type HarnessOptions, manualClock, START_MS } from '../support/harness/harness.ts';

import {
  bytesOf,
  eventsBetween,
  newDirectory,
  sendEvent,
  start,
  stop,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Each invariant of SPEC I, with the guard it stands on. The comment above a test names the line to
// take out to see the test go red; `npm run guards` does that for all of them, in a copy.

afterEach(stopAll);

describe('I-1: an interval keeps the bytes it was served with', () => {
  // Remove ` where interval = $1 and interval < $2` in server/realtime/feed/sealing-sql.ts.
  test('[I-1] [F-12] an interval that was served is never sealed again', async () => {
    const directory = newDirectory();
    const first = await start({ directory });
    const streamId = await first.createStream();
    const viewer = await first.viewer(streamId);
    await first.advance(2);
    const interval = first.interval() - 1;
    const served = await bytesOf(viewer, interval);
    expect((await sendEvent(first, streamId, 1)).status).toBe(201);
    const again = { after: interval - 1, interval, nowMs: first.clock.nowMs(), transients: [] };
    const refused = await first.store.sealInterval(again);
    await stop(first);
    const second = await start({ directory });
    expect(await bytesOf(await second.viewer(streamId), interval)).toBe(served);
    expect(refused).toEqual({ outcome: 'behind', watermark: interval });
  });

  // Remove `if (interval > this.sealed) return this.hold(streamId, interval);` in
  // server/realtime/feed/feed-log-memory.ts.
  test('[I-1] [F-4] [F-13] nobody is served an interval before it is sealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    const interval = harness.interval();
    const early = bytesOf(viewer, interval);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    await harness.advance(1);
    const late = await bytesOf(viewer, interval);
    expect(await early).toBe(late);
    expect(late).toContain('"number":1');
  });

  // Remove `if (this.failing) await this.recover();` in server/realtime/feed/sealer.ts.
  test('[I-1] [F-13] a sealing whose answer was lost is served as it was committed', async () => {
    let loses = false;
    const harness = await start({
      store: (store) => ({
        ...store,
        sealInterval: async (sealing) => {
          const bodies = await store.sealInterval(sealing);
          if (loses) throw new Error('the answer was lost');
          return bodies;
        },
      }),
    });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    const interval = harness.interval();
    loses = true;
    await harness.advance(1);
    loses = false;
    await harness.advance(1);
    expect(harness.service.stats.watermark()).toBe(interval + 1);
    expect(await bytesOf(viewer, interval)).toContain('"number":1');
  });
});

describe('I-2: an acknowledged event is in exactly one interval', () => {
  // Remove `await takeFromOutbox(tx, taken);` in server/realtime/feed/sealing-sql.ts.
  test('[I-2] [F-14] events are in one interval each, restarts and failed sealings included', async () => {
    const directory = newDirectory();
    const clock = manualClock(START_MS);
    let fails = false;
    const failing: HarnessOptions = {
      directory,
      clock,
      store: (store) => ({
        ...store,
        sealInterval: (sealing) =>
          fails ? Promise.reject(new Error('the disk failed')) : store.sealInterval(sealing),
      }),
    };
    const first = await start(failing);
    const from = first.interval();
    const streamId = await first.createStream();
    for (let number = 1; number <= 3; number++) await sendEvent(first, streamId, number);
    await first.advance(2);
    for (let number = 4; number <= 6; number++) await sendEvent(first, streamId, number);
    fails = true;
    await first.advance(1);
    await stop(first);
    fails = false;
    const second = await start({ directory, clock });
    await second.advance(3);
    const viewer = await second.viewer(streamId);
    const events = await eventsBetween(second, viewer, from, second.interval() - 1);
    const numbers = events.map(({ data }) => (data as { number: number }).number);
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
