import { afterEach, expect, test } from 'bun:test';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { FaultyDisk } from '../../../test/support/media/faulty-disk.ts';
import {
  addSegments,
  epochOf,
  range,
  removeFixtures,
  STREAM,
  startStream,
} from '../../../test/support/media/segment-store-fixture.ts';
import { type Disk, localDisk } from './disk.ts';

const SEGMENTS = 40;
const OTHERS = range(1, 6).map((n) => `0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c0${n}`);
const NEW_STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5cff';
/** Reads of one stream at a time. */
const READS_MAX = 16;

afterEach(removeFixtures);

/** A disk that counts the files that are read at the same time. */
class CountingDisk extends FaultyDisk {
  mostReads = 0;
  private reads = 0;

  override readonly read: Disk['read'] = async (path, bytesMax) => {
    this.mostReads = Math.max(this.mostReads, ++this.reads);
    await Bun.sleep(1);
    return localDisk.read(path, bytesMax).finally(() => this.reads--);
  };
}

test('[M-27] stored streams are loaded one after the other, and a new stream does not wait', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, SEGMENTS));
  await segments.close(false);
  const { directory } = fixture;
  for (const id of OTHERS)
    await cp(join(directory, STREAM), join(directory, id), { recursive: true });
  const disk = new CountingDisk();
  const store = await fixture.start({ disk });
  let isLoading = true;
  const loading = Promise.all([STREAM, ...OTHERS].map((id) => store.open(id))).finally(() => {
    isLoading = false;
  });
  await store.open(NEW_STREAM);
  expect(isLoading).toBe(true);
  for (const stream of await loading) expect(stream.segments).toHaveLength(SEGMENTS);
  expect(disk.mostReads).toBeLessThanOrEqual(READS_MAX);
});

test('[M-27] a stream that has not ended and a short recording do not wait for all recordings that load', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 1));
  await segments.close(false);
  const { directory } = fixture;
  const copy = (id: string) =>
    cp(join(directory, STREAM), join(directory, id), { recursive: true });
  const [live = '', ...recordings] = OTHERS;
  await copy(live);
  await segments.close(true);
  const [short = '', ...long] = recordings;
  await copy(short);
  segments.addEpoch(epochOf(1));
  await addSegments(fixture, segments, range(1, SEGMENTS), { epoch: 1 });
  await segments.close(true);
  for (const id of long) await copy(id);
  const store = await fixture.start({ disk: new CountingDisk() });
  const order: string[] = [];
  const open = (id: string) => store.open(id).then(() => order.push(id));
  await Promise.all([STREAM, ...long, short, live].map(open));
  expect(order.slice(0, 3).sort()).toEqual([STREAM, short, live].sort());
});

/** Most streams that the store keeps without being asked for them. */
const IDLE_STREAMS_MAX = 64;

test('[M-27] streams that nobody reads do not stay in memory', async () => {
  const { fixture, segments } = await startStream();
  await addSegments(fixture, segments, range(0, 1));
  await segments.close(true);
  const ids = range(0, IDLE_STREAMS_MAX + 10).map((n) => `${STREAM.slice(0, -3)}${100 + n}`);
  for (const id of ids)
    await cp(join(fixture.directory, STREAM), join(fixture.directory, id), { recursive: true });
  const store = await fixture.start({});
  const opened: WeakRef<object>[] = [];
  for (const id of ids) opened.push(new WeakRef(await store.open(id)));
  let kept = opened;
  // The stack may hold some, others in each turn; a reference is kept to the end of the turn in which it was made.
  for (let turn = 0; turn < 10 && kept.length > IDLE_STREAMS_MAX + 1; turn++) {
    await Bun.sleep(0);
    Bun.gc(true);
    kept = opened.filter((stream) => stream.deref() !== undefined);
  }
  expect(kept.length).toBeLessThanOrEqual(IDLE_STREAMS_MAX + 1);
});
