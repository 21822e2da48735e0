import { afterEach, expect, test } from 'bun:test';
import {
  addSegments,
  createFixture,
  epochOf,
  type Fixture,
  range,
  removeFixtures,
  STREAM,
  seqsOf,
} from '../../../test/support/media/segment-store-fixture.ts';
import { type Disk, localDisk } from './disk.ts';
import type { FileSegmentStore } from './segment-store-files.ts';

const OTHER = '1b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';

afterEach(removeFixtures);

/** A disk on which files of these paths cannot be removed. */
function unremovable(isStuck: (path: string) => boolean, freeBytes: () => number | null): Disk {
  return {
    ...localDisk,
    freeBytes: async () => freeBytes(),
    remove: async (path) => {
      if (isStuck(path)) throw new Error('not permitted');
      await localDisk.remove(path);
    },
  };
}

/** A store on a disk that has no space and removes nothing while `isStuck`. */
async function startFaulty() {
  const fault = { isStuck: false };
  const disk = unremovable(
    () => fault.isStuck,
    () => (fault.isStuck ? 0 : 1 << 30),
  );
  const fixture = await createFixture({ disk, minFreeBytes: 1 << 20, dvrMs: 3_600_000 });
  return { fault, fixture, store: await fixture.start() };
}

/** Stores a recording that has ended. */
async function addRecording(
  fixture: Fixture,
  store: FileSegmentStore,
  streamId: string,
  segments: number,
) {
  const recording = await store.open(streamId);
  recording.setRetention('recording');
  recording.addEpoch(epochOf(0));
  await addSegments(fixture, recording, range(0, segments));
  await recording.close(true);
  return recording;
}

test('[M-28] of a stream whose files cannot be removed, one segment a minute is lost', async () => {
  const { fault, fixture, store } = await startFaulty();
  const recording = await addRecording(fixture, store, STREAM, 50);
  const { bytes } = store.stats();
  fault.isStuck = true;
  for (let n = 0; n < 5; n++) await store.sweep();
  expect([seqsOf(recording), store.stats().bytes]).toEqual([range(1, 50), bytes]);
  fault.isStuck = false;
  await store.sweep();
  expect(await fixture.files(STREAM)).toHaveLength(49 + 3);
  expect(store.stats().bytes).toBe((bytes / 50) * 49);
});

test('[M-28] a disk that removes no file is tried three times a minute, over all streams', async () => {
  const { fault, fixture, store } = await startFaulty();
  const all = await Promise.all(
    Array.from({ length: 10 }, () => addRecording(fixture, store, crypto.randomUUID(), 5)),
  );
  fault.isStuck = true;
  for (let n = 0; n < 5; n++) await store.sweep();
  const listed = () => all.reduce((sum, stream) => sum + seqsOf(stream).length, 0);
  expect(listed()).toBe(50 - 3);
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(listed()).toBe(50 - 6);
});

test('[M-28] three streams whose files cannot be removed hold up the others for a minute', async () => {
  const stuck: string[] = [];
  const disk = unremovable(
    (path) => stuck.some((id) => path.includes(id)),
    () => (stuck.length > 0 ? 0 : 1 << 30),
  );
  const fixture = await createFixture({ disk, minFreeBytes: 1 << 20, dvrMs: 3_600_000 });
  const store = await fixture.start();
  const ids = Array.from({ length: 4 }, () => crypto.randomUUID());
  for (const id of ids) await addRecording(fixture, store, id, 5);
  stuck.push(...ids.slice(0, 3));
  await store.sweep();
  expect(store.stats().evicted).toBe(0);
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(store.stats().evicted).toBeGreaterThan(0);
});

test('[M-28] eviction goes on at once when files can be removed again', async () => {
  let isStuck = false;
  let freeBytes = 1 << 30;
  const disk = unremovable(
    () => isStuck,
    () => freeBytes,
  );
  const fixture = await createFixture({ disk, minFreeBytes: 1 << 20, dvrMs: 3_600_000 });
  const store = await fixture.start();
  await addRecording(fixture, store, STREAM, 50);
  isStuck = true;
  freeBytes = 0;
  for (let n = 0; n < 5; n++) {
    fixture.clock.nowMs += 61_000 * 2 ** n;
    await store.sweep();
  }
  isStuck = false;
  await store.sweep();
  fixture.clock.nowMs += 61_000;
  await store.sweep();
  expect(store.stats().evicted).toBeGreaterThan(0);
});

test('[M-28] a file that cannot be removed holds up no other, and is removed once it can be', async () => {
  let isStuck = true;
  const disk = unremovable(
    (path) => isStuck && path.includes(OTHER),
    () => null,
  );
  const fixture = await createFixture({ disk, spaceBytes: 100 * 4096, dvrMs: 3_600_000 });
  const store = await fixture.start();
  const addEnded = (stream: string) => addRecording(fixture, store, stream, 40);
  const [stuck, other] = [await addEnded(OTHER), await addEnded(crypto.randomUUID())];
  const live = await store.open(STREAM);
  live.addEpoch(epochOf(0));
  await addSegments(fixture, live, range(0, 40));
  const counts = [live, stuck, other].map((each) => seqsOf(each).length);
  expect([live.hasWriteFault, counts]).toEqual([false, [40, 39, 20]]);
  expect(store.stats().bytes).toBe(100 * 4096);
  isStuck = false;
  await store.sweep();
  expect(store.stats().bytes).toBe(99 * 4096);
});
