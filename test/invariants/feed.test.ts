import { afterEach, describe, expect, test } from 'bun:test';
import { eventsFrom } from '../support/conformance/feed-viewer.ts';
import { type HarnessOptions, manualClock, START_MS } from '../support/harness/harness.ts';
import {
  newDirectory,
  readInterval,
  sendEvent,
  start,
  stop,
  stopAll,
} from '../support/invariants/invariant-steps.ts';

// Tests of the invariants in SPEC I. Each proves a guard in the code; `test/guards.ts` lists them, and
// `npm run guards` removes each guard from a copy and checks that its test fails.

afterEach(stopAll);

describe('I-1: an interval keeps the bytes it was served with', () => {
  test('[I-1] [F-12] a served interval is never sealed again, after a restart either', async () => {
    const directory = newDirectory();
    const first = await start({ directory });
    const streamId = await first.createStream();
    const viewer = await first.viewer(streamId);
    await first.advance(2);
    const interval = first.interval() - 1;
    const served = await readInterval(viewer, interval);
    expect((await sendEvent(first, streamId, 1)).status).toBe(201);
    const again = { after: interval - 1, interval, nowMs: first.clock.nowMs(), transients: [] };
    const refused = await first.store.sealInterval(again);
    await stop(first);
    const second = await start({ directory });
    expect(await readInterval(await second.viewer(streamId), interval)).toBe(served);
    expect(refused).toEqual({ outcome: 'conflict', watermark: interval });
  });

  test('[I-1] [F-4] [F-13] an interval is served only once it is sealed', async () => {
    const harness = await start();
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    const interval = harness.interval();
    const early = readInterval(viewer, interval);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    await harness.advance(1);
    const late = await readInterval(viewer, interval);
    expect(await early).toBe(late);
    expect(late).toContain('"number":1');
  });

  test('[I-1] [F-13] an interval is served as committed when the database’s reply was lost', async () => {
    let losesReply = false;
    const harness = await start({
      store: (store) => ({
        ...store,
        sealInterval: async (sealing) => {
          const bodies = await store.sealInterval(sealing);
          if (losesReply) throw new Error('the answer was lost');
          return bodies;
        },
      }),
    });
    const streamId = await harness.createStream();
    const viewer = await harness.viewer(streamId);
    await harness.advance(1);
    expect((await sendEvent(harness, streamId, 1)).status).toBe(201);
    const interval = harness.interval();
    losesReply = true;
    await harness.advance(1);
    losesReply = false;
    await harness.advance(1);
    expect(harness.service.stats.watermark()).toBe(interval + 1);
    expect(await readInterval(viewer, interval)).toContain('"number":1');
  });
});

describe('I-2: an acknowledged event is in exactly one interval', () => {
  test('[I-2] [F-14] each event is in one interval, across restarts and failed sealings', async () => {
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
    const events = await eventsFrom(second, viewer, from);
    const numbers = events.map(({ data }) => (data as { number: number }).number);
    expect(numbers).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
