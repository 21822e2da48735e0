import { afterEach, describe, expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addSegments,
  BEGIN_MS,
  createFixture,
  epochOf,
  expectedDigest,
  type Fixture,
  range,
  readDigest,
  recordingLogger,
  removeFixtures,
  STREAM,
  segmentOf,
  seqsOf,
} from '../../test/support/media/segment-store-fixture.ts';
import { FakeStore, MEDIA_CONFIG } from '../../test/support/media/source-registry-fixture.ts';
import { ChannelCache } from './channel-cache.ts';
import { isGap, type PlayableStream } from './segment.ts';
import type { FileSegmentStore } from './store/segment-store-files.ts';

// The database is lost and an earlier state restored; the video is that of a later time.

const DAY_MS = 86_400_000;
const OLD = range(0, 300);

const stores: FileSegmentStore[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await removeFixtures();
});

/** A stream whose show is stored, and that a restored database has not started. */
async function restoreBeforeStart({ hasEnded = true } = {}) {
  const fixture = await createFixture();
  const segments = await (await fixture.start()).open(STREAM);
  segments.setAccount('account');
  segments.setRetention('recording');
  segments.addEpoch(epochOf(0));
  await addSegments(fixture, segments, OLD);
  await segments.close(hasEnded);
  fixture.clock.nowMs += DAY_MS;
  const store = new FakeStore();
  const row = store.add(STREAM, 'sk_1');
  row.recording = true;
  return { fixture, store, row };
}

/** Opens video on the files and the database, as a new process does. @param open the store of a running one */
async function openMedia(fixture: Fixture, store: FakeStore, open?: FileSegmentStore) {
  const segmentStore = open ?? (await fixture.start());
  stores.push(segmentStore);
  const { logger, lines } = recordingLogger('warn');
  const nowMs = () => fixture.clock.nowMs;
  const channels = new ChannelCache({
    ...{ config: MEDIA_CONFIG, store, segmentStore, nowMs, logger },
  });
  const listedBy = async (finding: Promise<PlayableStream | null>) =>
    (await finding)
      ?.presentation()
      .segments.filter((each) => !isGap(each))
      .map(({ seq }) => seq) ?? null;
  return {
    ...{ segmentStore, lines },
    channel: () => channels.open(STREAM),
    segments: () => segmentStore.open(STREAM),
    seenByViewers: () => listedBy(channels.find(STREAM)),
    seenByMembers: () => listedBy(channels.findPreview(STREAM)),
    /** Applies the state of the stream, as the renewal of a source does. */
    async renew() {
      const stream = await store.findStream({ id: STREAM });
      if (stream) channels.setStream(await channels.open(STREAM), stream);
    },
    async sweep() {
      await (await segmentStore.open(STREAM)).whenWritten();
      for (const _ of range(0, 3)) await segmentStore.sweep();
    },
  };
}

async function storedSeqs(fixture: Fixture): Promise<number[]> {
  const names = await fixture.files(STREAM);
  return names.filter((name) => name.endsWith('.segment')).map((name) => Number.parseInt(name, 10));
}

test('[M-27] [M-32] a recording that a restored database has not started stays, hidden until a start', async () => {
  const { fixture, store } = await restoreBeforeStart();
  for (const warnings of [1, 0]) {
    const media = await openMedia(fixture, store);
    expect(await media.seenByViewers()).toBeNull();
    expect(await media.seenByMembers()).toEqual(OLD);
    await media.renew();
    await media.sweep();
    expect(await storedSeqs(fixture)).toEqual(OLD);
    expect((await media.segments()).retention).toBe('recording');
    const logged = fixture.lines.splice(0).filter(({ level }) => level === 40);
    expect(logged).toHaveLength(warnings);
  }
  const media = await openMedia(fixture, store);
  store.start(STREAM, fixture.clock.nowMs);
  await media.renew();
  expect(await media.seenByViewers()).toEqual(OLD);
  await media.sweep();
  expect(await storedSeqs(fixture)).toEqual(OLD);
});

test('[M-27] [M-32] the start of a restored stream removes what its new source sent before, and not the old video', async () => {
  const { fixture, store } = await restoreBeforeStart();
  const before = await openMedia(fixture, store);
  await before.channel();
  const first = await before.segments();
  first.addEpoch(epochOf(1));
  await addSegments(fixture, first, range(300, 310), { epoch: 1 });
  expect(await (await openMedia(fixture, new FakeStore())).seenByViewers()).toBeNull();
  // A restart does not make a show of the preview.
  const media = await openMedia(fixture, store);
  expect(await media.seenByViewers()).toBeNull();
  const segments = await media.segments();
  segments.addEpoch(epochOf(2));
  await addSegments(fixture, segments, range(310, 319), { epoch: 2 });
  segments.add(...segmentOf(319, 2));
  expect(await media.seenByMembers()).toEqual(range(0, 320));
  store.start(STREAM, BEGIN_MS + 321_500);
  await media.renew();
  expect(await media.seenByViewers()).toEqual(OLD);
  expect(segments.nextSeq).toBe(320);
  // The encoder is behind: two of these are from before the start.
  await addSegments(fixture, segments, range(320, 325), { epoch: 2 });
  const kept = [...OLD, ...range(321, 325)];
  expect(await media.seenByViewers()).toEqual(kept);
  for (const seq of [305, 315, 320]) expect(await readDigest(segments, seq, 1)).toBeNull();
  for (const seq of [305, 315, 320]) expect(await readDigest(segments, seq, 2)).toBeNull();
  expect(await readDigest(segments, 299)).toBe(expectedDigest(299));
  await media.sweep();
  expect(await storedSeqs(fixture)).toEqual(kept);
  const later = await openMedia(fixture, store);
  expect(await later.seenByViewers()).toEqual(kept);
  expect((await later.segments()).nextSeq).toBe(325);
});

test('[M-27] [M-32] a show whose start a failover lost is hidden until it starts again, and loses nothing from before', async () => {
  const { fixture, store } = await restoreBeforeStart({ hasEnded: false });
  store.start(STREAM, BEGIN_MS);
  const media = await openMedia(fixture, store);
  expect(await media.seenByViewers()).toEqual(OLD);
  Object.assign(store.rows.get(STREAM) ?? {}, { status: 'CREATED', started: null });
  await media.renew();
  // A single response may be from before the start.
  expect(await media.seenByViewers()).toEqual(OLD);
  await media.renew();
  expect(await media.seenByViewers()).toBeNull();
  const segments = await media.segments();
  await addSegments(fixture, segments, range(300, 310));
  await media.sweep();
  expect(await storedSeqs(fixture)).toEqual(range(0, 310));
  store.start(STREAM, BEGIN_MS + 305_500);
  await media.renew();
  const kept = [...OLD, ...range(305, 310)];
  expect(await media.seenByViewers()).toEqual(kept);
  expect(segments.read(0, 302, 'v0')).toBeNull();
  await media.sweep();
  expect(await storedSeqs(fixture)).toEqual(kept);
});

test('[M-32] a crash before the state of a preview is on disk makes no video of a show of it', async () => {
  const { fixture, store } = await restoreBeforeStart();
  await rm(join(fixture.directory, STREAM, 'state.json'));
  const media = await openMedia(fixture, store);
  expect(await media.seenByViewers()).toBeNull();
  expect((await media.segments()).retention).toBe('preview');
  store.start(STREAM, BEGIN_MS + 310_000);
  await media.renew();
  expect(await media.seenByViewers()).toEqual([]);
});

describe.each([true, false])('video whose end is known on disk: %p', (hasEnded) => {
  test.each([true, false])(
    '[M-27] a recording of which a restored database knows no flag stays one until the end; started there: %p',
    async (isStarted) => {
      const { fixture, store, row } = await restoreBeforeStart({ hasEnded });
      row.recording = false;
      if (isStarted) store.start(STREAM, BEGIN_MS);
      const media = await openMedia(fixture, store);
      expect(await media.seenByViewers()).toEqual(isStarted ? OLD : null);
      store.start(STREAM, fixture.clock.nowMs);
      await media.renew();
      expect(await media.seenByViewers()).toEqual(OLD);
      await media.sweep();
      expect(await storedSeqs(fixture)).toEqual(OLD);
      // The producer ends it and does not want it.
      Object.assign(row, { status: 'ENDED', ended: fixture.clock.nowMs });
      const ended = await openMedia(fixture, store);
      await ended.channel();
      expect((await ended.segments()).retention).toBe('dvr');
    },
  );
});

test('[M-27] a failover that loses flag and end of a stream keeps its recording, although its channel was closed at the end', async () => {
  const { fixture, store, row } = await restoreBeforeStart({ hasEnded: false });
  store.start(STREAM, BEGIN_MS);
  const media = await openMedia(fixture, store);
  await addSegments(fixture, await media.segments(), range(300, 310));
  Object.assign(row, { status: 'ENDED', ended: fixture.clock.nowMs });
  expect(await media.seenByViewers()).toEqual(range(0, 310));
  Object.assign(row, { status: 'STREAMING', ended: null, recording: false });
  const reopened = await openMedia(fixture, store, media.segmentStore);
  expect(await reopened.seenByViewers()).toEqual(range(0, 310));
  expect((await media.segments()).retention).toBe('recording');
});

test('[M-32] a failover right after a crash makes no video of a show of the preview that the start had ended', async () => {
  const { fixture, store, row } = await restoreBeforeStart();
  const media = await openMedia(fixture, store);
  await media.channel();
  const segments = await media.segments();
  await addSegments(fixture, segments, range(300, 310));
  store.start(STREAM, BEGIN_MS + 320_000);
  await media.renew();
  await segments.whenWritten();
  Object.assign(row, { status: 'CREATED', started: null });
  const crashed = await openMedia(fixture, store);
  expect(await crashed.seenByMembers()).toEqual(OLD);
  await crashed.sweep();
  await crashed.renew();
  expect((await crashed.segments()).isPreview).toBe(true);
  await (await crashed.segments()).whenWritten();
  expect(await (await openMedia(fixture, store)).seenByMembers()).toEqual(OLD);
});

test('[M-27] [M-32] a preview of over 20,000 segments hides no show before it when it ends', async () => {
  const { fixture, store } = await restoreBeforeStart();
  const media = await openMedia(fixture, store);
  await media.channel();
  const segments = await media.segments();
  // Those between are not needed for the test.
  await addSegments(fixture, segments, range(30_000, 30_010));
  expect(seqsOf(segments)).toEqual([...OLD, ...range(30_000, 30_010)]);
  store.start(STREAM, BEGIN_MS + 30_005_500);
  await media.renew();
  const kept = [...OLD, ...range(30_005, 30_010)];
  expect(seqsOf(segments)).toEqual(kept);
  await media.sweep();
  expect(seqsOf(await (await openMedia(fixture, store)).segments())).toEqual(kept);
});

test('[M-27] a producer switches the recording of a running show off', async () => {
  const { fixture, store, row } = await restoreBeforeStart();
  store.start(STREAM, BEGIN_MS);
  const media = await openMedia(fixture, store);
  const segments = await media.segments();
  await media.channel();
  // The show was reopened (S-19) and goes on.
  segments.add(...segmentOf(300));
  row.recording = false;
  await media.renew();
  expect(segments.retention).toBe('dvr');
});
