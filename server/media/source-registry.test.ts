import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import { REOPEN_MS } from '../../protocol/limits.ts';
import { bytesOf, settled } from '../../test/support/media/packager-fixture.ts';
import { recordingLogger } from '../../test/support/media/segment-store-fixture.ts';
import {
  createSourceFixture,
  MEDIA_CONFIG,
  SOURCE_REQUEST,
} from '../../test/support/media/source-registry-fixture.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../platform/runtime.ts';
import type { SourceSession } from './source.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(async () => {
  for (const fixture of fixtures.splice(0)) await stopSources(fixture);
  const openTimers = jest.getTimerCount();
  jest.clearAllTimers();
  jest.useRealTimers();
  // A stopped source registry leaves no timer, and neither do its sources.
  expect(openTimers).toBe(0);
});

type Fixture = ReturnType<typeof createSourceFixture>;

const fixtures: Fixture[] = [];

/** A fixture whose sources are stopped after the test. */
function createFixture(options: Parameters<typeof createSourceFixture>[0] = {}): Fixture {
  const fixture = createSourceFixture(options);
  fixtures.push(fixture);
  return fixture;
}

/** A fixture with a source that produces segments. */
async function startLiveSource(options: Parameters<typeof createSourceFixture>[0] = {}) {
  const fixture = createFixture(options);
  const session = await fixture.sources.open(SOURCE_REQUEST);
  session.write(bytesOf('H;J1000;'));
  await fixture.packager.probe.succeed();
  fixture.packager.encoder.emitStart(1_000, 2.5);
  return { ...fixture, session };
}

/** A fixture with a preview that produces segments: three, the last of them incomplete. */
async function startPreview() {
  const fixture = createFixture();
  fixture.row.autoStart = false;
  const session = await fixture.sources.open(SOURCE_REQUEST);
  session.write(bytesOf('H;J1000;'));
  await fixture.packager.probe.succeed();
  fixture.packager.encoder.emitStart(1_000, 2.5);
  return { ...fixture, session };
}

async function stopSources({ sources, packager }: Fixture): Promise<void> {
  const stopping = sources.stop();
  for (const encoder of packager.encoders) await encoder.exitWith({ code: 0 });
  await stopping;
}

const reasonOf = (opening: Promise<SourceSession>) =>
  opening.then(
    () => 'opened',
    (error) => error.reason,
  );

describe('source', () => {
  test('[M-8] a source with a valid key is admitted and its segments are playable', async () => {
    const fixture = await startLiveSource();
    expect(fixture.row).toMatchObject({ status: 'STREAMING', source: 'session 1' });
    const stream = await fixture.channels.find('one');
    expect(stream?.presentation()).toMatchObject({ isEnded: false, dvrMs: 7_200_000 });
    expect(stream?.presentation().segments).toHaveLength(2);
    const name = stream?.presentation().epochs[0]?.startMs ?? 0;
    expect(stream?.segment(name, 1, 'v0')).not.toBeNull();
    expect(await fixture.channels.find('two')).toBeNull();
  });

  test('[M-16] input that a turn of the event loop has no time for waits, whatever its source', async () => {
    const fixture = createFixture();
    const session = await fixture.sources.open(SOURCE_REQUEST);
    let nowMs = 0;
    const turns: (() => void)[] = [];
    replaceRuntime({
      ...SYSTEM_RUNTIME,
      monotonicMs: () => (nowMs += 10),
      setImmediate: (run) => void turns.push(run),
    });
    try {
      const bytes = () => fixture.sources.totals().bytes;
      expect(['H;', 'J1000;', 'V;'].map((text) => session.write(bytesOf(text)))).toEqual([
        true,
        true,
        false,
      ]);
      const before = bytes();
      for (const run of turns.splice(0)) run();
      expect(bytes()).toBe(before + 2);
    } finally {
      replaceRuntime(SYSTEM_RUNTIME);
    }
  });

  test('[M-28] the video of a source counts for the account of its stream', async () => {
    const { segmentStore } = await startLiveSource();
    expect(segmentStore.streams.get('one')?.account).toBe('account');
  });

  test('[M-5] a source with a wrong key is refused and counted', async () => {
    const fixture = createFixture();
    expect(await reasonOf(fixture.sources.open({ ...SOURCE_REQUEST, key: 'sk_2' }))).toBe(
      'unknown-key',
    );
    const other = { ...SOURCE_REQUEST, streamId: 'another' };
    expect(await reasonOf(fixture.sources.open(other))).toBe('unknown-key');
    expect([...fixture.sources.refusals]).toEqual([['unknown-key', 2]]);
    expect(fixture.packager.probes).toHaveLength(0);
  });

  test('[M-5] a key with impossible characters is refused without a call of the database', async () => {
    const { logger, lines } = recordingLogger();
    const fixture = createFixture({ logger });
    Object.assign(fixture.store, {
      openSource: () => Promise.reject(new Error('invalid byte sequence')),
    });
    for (const key of ['sk_\0', 'sk_\ud800', 'sk_ 1', 'sk_é', '', 'k'.repeat(129)])
      expect(await reasonOf(fixture.sources.open({ ...SOURCE_REQUEST, key }))).toBe('unknown-key');
    expect(lines).toEqual([]);
  });

  test('[M-6] a second source is refused while the first is alive', async () => {
    const fixture = await startLiveSource();
    expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('busy');
    await fixture.packager.advance(20_000);
    expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('busy');
    expect(fixture.sources.refusals.get('busy')).toBe(2);
  });

  test('[M-7] a source that left can reconnect at once, and its stream continues', async () => {
    const fixture = await startLiveSource();
    fixture.session.end('sender left');
    await fixture.packager.encoder.exitWith({ code: 0 });
    expect(fixture.row).toMatchObject({ status: 'STREAMING', source: null });
    expect([...fixture.sources.liveSources()]).toEqual([]);
    await fixture.packager.advance(3_000);
    const again = await fixture.sources.open(SOURCE_REQUEST);
    again.write(bytesOf('H;J9000;'));
    await fixture.packager.probe.succeed();
    fixture.packager.encoder.emitStart(9_000, 1.5);
    const presentation = (await fixture.channels.find('one'))?.presentation();
    expect(presentation?.epochs.map(({ number }) => number)).toEqual([0, 1]);
    expect(presentation?.segments.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  });

  test('[M-6] of two sources that wait for the last segment of another one, the later one stays', async () => {
    const fixture = await startLiveSource();
    const { packager, sources } = fixture;
    packager.encoder.exitsWhenKilled = false;
    fixture.session.end('sender left');
    await settled();
    const earlier = sources.open(SOURCE_REQUEST);
    await packager.advance(7_000);
    const later = sources.open(SOURCE_REQUEST);
    await settled();
    await packager.encoder.exitWith({ code: 0 });
    const session = await earlier;
    await packager.advance(3_000);
    expect((await session.closed).reason).toBe('replaced');
    await later;
    expect([...sources.liveSources()].map(({ id }) => id)).toEqual([fixture.row.source ?? '']);
  });

  test('[M-7] a stream outlives the death of its media node by 5 minutes, and a source that left by 30 s', async () => {
    const fixture = await startLiveSource();
    const graceMs = () => (fixture.row.endsAtMs ?? 0) - fixture.packager.nowMs();
    expect(graceMs()).toBe(300_000);
    await fixture.packager.advance(2_000);
    expect(graceMs()).toBe(300_000);
    fixture.session.end('sender left');
    await fixture.packager.encoder.exitWith({ code: 0 });
    expect(graceMs()).toBe(30_000);
  });

  test('[M-7] a stream whose media node stops has 5 minutes for its source to return', async () => {
    const fixture = await startLiveSource();
    await stopSources(fixture);
    expect((fixture.row.endsAtMs ?? 0) - fixture.packager.nowMs()).toBe(300_000);
  });

  test('[M-6] a new source starts after the last segment of the previous one', async () => {
    const fixture = await startLiveSource();
    fixture.session.end('sender left');
    await settled();
    let isOpen = false;
    const again = fixture.sources.open(SOURCE_REQUEST);
    void again.then(() => {
      isOpen = true;
    });
    await settled();
    expect([isOpen, fixture.packager.probes.length]).toEqual([false, 1]);
    await fixture.packager.encoder.exitWith({ code: 0 });
    await again;
    expect(fixture.packager.probes).toHaveLength(2);
  });

  test('[M-6] a source ends when another holds the lease', async () => {
    const fixture = await startLiveSource();
    fixture.row.source = 'session of another node';
    await fixture.packager.advance(2_000);
    expect(await fixture.session.closed).toEqual({
      reason: 'replaced',
      message: 'Another source has taken over the stream.',
    });
    expect(fixture.packager.encoder.isFinished).toBe(true);
    await fixture.packager.encoder.exitWith({ code: 0 });
    expect(fixture.row.source).toBe('session of another node');
  });

  test('[M-8] a source ends with its stream, and an ended stream refuses sources', async () => {
    const fixture = await startLiveSource();
    fixture.row.status = 'ENDED';
    await fixture.packager.advance(2_000);
    expect(await fixture.session.closed).toEqual({
      reason: 'ended',
      message: 'The stream has ended.',
    });
    await fixture.packager.encoder.exitWith({ code: 0 });
    expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('ended');
    expect((await fixture.channels.find('one'))?.presentation().isEnded).toBe(false);
    // The last segment is made, so the next check ends the stream.
    await fixture.packager.advance(2_000);
    const stream = await fixture.channels.find('one');
    expect(stream?.presentation().isEnded).toBe(true);
    expect(stream?.presentation().segments).toHaveLength(3);
    expect(fixture.segmentStore.streams.get('one')?.closed).toEqual({ isEnded: true });
  });

  test('[Y-10] a source ends when its stream was removed, and so do the playlists', async () => {
    const fixture = await startLiveSource();
    fixture.store.rows.delete('one');
    await fixture.packager.advance(2_000);
    expect((await fixture.session.closed).reason).toBe('ended');
    await fixture.packager.encoder.exitWith({ code: 0 });
    await fixture.packager.advance(2_000);
    expect((await fixture.channels.find('one'))?.presentation().isEnded).toBe(true);
    expect(fixture.segmentStore.streams.get('one')?.closed).toEqual({ isEnded: true });
  });

  test('[S-19] a reopened stream takes a source again, and its video goes on', async () => {
    const fixture = await startLiveSource();
    const endedMs = fixture.packager.nowMs();
    Object.assign(fixture.row, { status: 'ENDED', ended: endedMs });
    await fixture.packager.advance(2_000);
    await fixture.packager.encoder.exitWith({ code: 0 });
    await fixture.packager.advance(2_000);
    expect((await fixture.channels.find('one'))?.presentation().isEnded).toBe(true);
    const reopened = endedMs + REOPEN_MS - 1;
    await fixture.packager.advance(REOPEN_MS - 4_000);
    Object.assign(fixture.row, { status: 'STREAMING', ended: null, reopened });
    await fixture.packager.advance(2_000);
    const stream = await fixture.channels.find('one');
    expect(stream?.presentation()).toMatchObject({ isEnded: false, reopenedMs: reopened });
    expect(stream?.presentation().segments).toHaveLength(3);
    await fixture.sources.open(SOURCE_REQUEST);
    await fixture.packager.advance(2_000);
    // Channels of ended streams are closed when there are many, but not this one.
    for (let n = 0; n < 40; n++) {
      Object.assign(fixture.store.add(`${n}`, `sk_${n + 2}`), { status: 'ENDED', ended: 0 });
      await fixture.channels.open(`${n}`);
    }
    expect(await fixture.channels.find('one')).toBe(stream);
    expect(fixture.store.operations.at(-1)).toBe('renew session 2: renewed');
  });

  test('[M-7] a live source continues while the database is unavailable, and new ones are refused', async () => {
    const fixture = await startLiveSource();
    fixture.store.isUnavailable = true;
    fixture.store.add('two', 'sk_2');
    expect(await reasonOf(fixture.sources.open({ ...SOURCE_REQUEST, key: 'sk_2' }))).toBe(
      'unavailable',
    );
    await fixture.packager.advance(25_000);
    fixture.session.write(bytesOf('P1500;'));
    expect(fixture.packager.encoder.input).toContain('P1500;');
    fixture.store.isUnavailable = false;
    await fixture.packager.advance(2_000);
    expect(fixture.store.operations.at(-1)).toBe('renew session 1: renewed');
  });

  test('[M-16] a source that is no video gets the reason, and its lease is released', async () => {
    const fixture = createFixture();
    const session = await fixture.sources.open(SOURCE_REQUEST);
    session.write(bytesOf('X'));
    expect(await session.closed).toEqual({
      reason: 'not-understood',
      message: 'invalid container',
    });
    await settled();
    expect(fixture.row.source).toBeNull();
    expect([...fixture.sources.liveSources()]).toEqual([]);
    expect(session.write(bytesOf('X'))).toBe(true);
  });

  test('[M-44] a source is refused with the reason when the service cannot encode', async () => {
    const unavailableReason = async () => 'There is no ffmpeg.';
    const fixture = createFixture({ unavailableReason });
    const opening = fixture.sources.open(SOURCE_REQUEST);
    await expect(opening).rejects.toMatchObject({
      reason: 'unavailable',
      message: 'There is no ffmpeg.',
    });
    expect(fixture.row.status).toBe('CREATED');
  });

  test('[M-6] a source that cannot start releases its lease', async () => {
    const { logger, lines } = recordingLogger();
    const fixture = createFixture({ logger });
    fixture.segmentStore.failure = new Error('EIO');
    expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('unavailable');
    expect(lines.at(-1)).toMatchObject({ msg: 'source could not be opened', level: 50 });
    expect(fixture.row.source).toBeNull();
    fixture.segmentStore.failure = null;
    const session = await fixture.sources.open(SOURCE_REQUEST);
    expect(session.streamId).toBe('one');
  });

  test('[M-27] segments are retained as a recording when recording is switched on during the stream', async () => {
    const fixture = await startLiveSource();
    const segments = fixture.segmentStore.streams.get('one');
    expect(segments?.retention).toBe('dvr');
    fixture.row.recording = true;
    await fixture.packager.advance(2_000);
    expect(segments?.retention).toBe('recording');
    expect((await fixture.channels.find('one'))?.presentation().dvrMs).toBe(7_200_000);
  });
});

describe('preview', () => {
  const segmentsOf = async ({ channels }: Fixture) =>
    (await channels.find('one'))?.presentation().segments ?? null;

  test('[M-32] viewers get nothing of a preview, and members get its video', async () => {
    const fixture = await startPreview();
    expect(fixture.row).toMatchObject({ status: 'CREATED', source: 'session 1' });
    expect(await segmentsOf(fixture)).toBeNull();
    const preview = await fixture.channels.findPreview('one');
    expect(preview?.presentation().segments).toHaveLength(2);
    expect(fixture.segmentStore.streams.get('one')?.retention).toBe('preview');
    await fixture.packager.advance(4_000);
    expect(await segmentsOf(fixture)).toBeNull();
  });

  test('[M-32] a preview of a stream that the database does not have stays hidden', async () => {
    const fixture = createFixture();
    (await fixture.segmentStore.open('lost')).setRetention('preview');
    expect(await fixture.channels.find('lost')).toBeNull();
    await fixture.segmentStore.open('removed');
    expect((await fixture.channels.find('removed'))?.presentation().isEnded).toBe(true);
  });

  test('[M-32] the start shows viewers the video from the start on, without a new connection', async () => {
    const fixture = await startPreview();
    const preview = await fixture.channels.findPreview('one');
    const [first, second] = preview?.presentation().segments ?? [];
    const epoch = preview?.presentation().epochs[0]?.startMs ?? 0;
    const inSecondMs = (second?.startMs ?? 0) + 400;
    fixture.store.start('one', inSecondMs);
    await fixture.packager.advance(300);
    expect(await segmentsOf(fixture)).toEqual([second as never]);
    const stream = await fixture.channels.find('one');
    expect(stream?.segment(epoch, first?.seq ?? 0, 'v0')).toBeNull();
    expect(stream?.segment(epoch, second?.seq ?? 0, 'v0')).not.toBeNull();
    expect(fixture.segmentStore.streams.get('one')?.retention).toBe('dvr');
    expect([...fixture.sources.liveSources()].map(({ id }) => id)).toEqual(['session 1']);
    expect(fixture.packager.encoders).toHaveLength(1);
  });

  test('[M-32] a start on another node reaches the source with its next renewal', async () => {
    const fixture = await startPreview();
    fixture.row.recording = true;
    fixture.store.start('one', fixture.packager.nowMs());
    await fixture.packager.advance(2_000);
    expect(fixture.segmentStore.streams.get('one')?.retention).toBe('recording');
  });

  test('[M-32] requests of many viewers before the start read the database four times a second', async () => {
    const fixture = await startPreview();
    let reads = 0;
    const { findStream } = fixture.store;
    Object.assign(fixture.store, {
      findStream: (input: { id: string }) => {
        reads++;
        return findStream(input);
      },
    });
    await Promise.all(Array.from({ length: 100 }, () => segmentsOf(fixture)));
    expect(reads).toBe(1);
  });
});

describe('sources of an account', () => {
  /** A fixture for one source of each account, whose source has left and still encodes. */
  async function startFinishingSource() {
    const fixture = await startLiveSource({ config: { ...MEDIA_CONFIG, accountSourcesMax: 1 } });
    fixture.packager.encoder.exitsWhenKilled = false;
    fixture.session.end('sender left');
    await settled();
    const other = fixture.store.add('two', 'sk_2');
    return { ...fixture, other, request: { ...SOURCE_REQUEST, key: 'sk_2' } };
  }

  test('[M-35] a source waits for the encoder of a source of its account that has left', async () => {
    const { sources, packager, request } = await startFinishingSource();
    const opening = reasonOf(sources.open(request));
    await packager.advance(4_000);
    expect(packager.probes).toHaveLength(1);
    await packager.encoder.exitWith({ code: 0 });
    expect(await opening).toBe('opened');
    expect(packager.probes).toHaveLength(2);
  });

  test('[M-35] of the sources that wait for the same encoder, one starts', async () => {
    const { sources, store, packager, request } = await startFinishingSource();
    store.add('three', 'sk_3');
    const openings = [request, { ...SOURCE_REQUEST, key: 'sk_3' }].map((each) =>
      reasonOf(sources.open(each)),
    );
    await packager.advance(4_000);
    await packager.encoder.exitWith({ code: 0 });
    await packager.advance(10_000);
    expect(await Promise.all(openings)).toEqual(['opened', 'too-many']);
    expect(store.rows.get('three')?.source).toBeNull();
    expect(packager.probes).toHaveLength(2);
  });

  test('[M-35] a source is rejected, and starts nothing, when an encoder of its account does not end', async () => {
    const { sources, other, packager, request } = await startFinishingSource();
    const opening = reasonOf(sources.open(request));
    await packager.advance(10_000);
    expect(await opening).toBe('too-many');
    expect(other.source).toBeNull();
    expect(packager.probes).toHaveLength(1);
  });

  test('[M-35] a source does not wait for the encoders of other accounts', async () => {
    const { sources, other, packager, request } = await startFinishingSource();
    other.producer = 'another account';
    expect(await reasonOf(sources.open(request))).toBe('opened');
    expect(packager.probes).toHaveLength(2);
  });
});

describe('stop', () => {
  test('stop ends all sources, releases their leases and refuses new sources', async () => {
    const fixture = await startLiveSource();
    const stopping = fixture.sources.stop();
    expect(await fixture.session.closed).toEqual({
      reason: 'stopping',
      message: 'The service is stopping; connect again.',
    });
    await fixture.packager.encoder.exitWith({ code: 0 });
    await stopping;
    expect(fixture.row).toMatchObject({ status: 'STREAMING', source: null });
    // Complete segments are stored for the next start of the process.
    expect(fixture.segmentStore.streams.get('one')?.segments).toHaveLength(3);
    expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('unavailable');
  });

  test('stop refuses a source that is being opened and releases its lease', async () => {
    const fixture = createFixture();
    const gate = Promise.withResolvers<void>();
    fixture.store.gate = gate.promise;
    const opening = reasonOf(fixture.sources.open(SOURCE_REQUEST));
    await settled();
    const stopping = fixture.sources.stop();
    gate.resolve();
    expect(await opening).toBe('unavailable');
    await stopping;
    await settled();
    expect(fixture.row.source).toBeNull();
    expect(fixture.packager.probes).toHaveLength(0);
  });

  test('stop does not wait for an unavailable database', async () => {
    const fixture = await startLiveSource();
    fixture.store.isUnavailable = true;
    await stopSources(fixture);
    expect([...fixture.sources.liveSources()]).toEqual([]);
  });
});

test('[M-8] a stream without a source on this node ends for its viewers when it ends in the database', async () => {
  const fixture = createFixture();
  await fixture.segmentStore.open('one');
  fixture.store.start('one', 0);
  const stream = await fixture.channels.find('one');
  await fixture.packager.advance(4_000);
  expect(stream?.presentation().isEnded).toBe(false);
  fixture.row.status = 'ENDED';
  fixture.store.isUnavailable = true;
  await fixture.packager.advance(2_000);
  expect(stream?.presentation().isEnded).toBe(false);
  fixture.store.isUnavailable = false;
  await fixture.packager.advance(2_000);
  expect(stream?.presentation().isEnded).toBe(true);
});

test('[M-27] a stream that ended before the process started is served as ended', async () => {
  const fixture = createFixture();
  await fixture.segmentStore.open('one');
  fixture.store.start('one', 0);
  fixture.row.status = 'ENDED';
  expect((await fixture.channels.find('one'))?.presentation().isEnded).toBe(true);
});

test('[M-43] totals include sources that ended', async () => {
  const fixture = await startLiveSource();
  expect(fixture.sources.totals()).toEqual({ cpuSeconds: 1.5, restarts: 0, bytes: 8 });
  fixture.session.end('sender left');
  await fixture.packager.encoder.exitWith({ code: 0 });
  expect(fixture.sources.totals()).toEqual({ cpuSeconds: 1.5, restarts: 0, bytes: 8 });
  const next = await fixture.sources.open(SOURCE_REQUEST);
  next.write(bytesOf('H;J1;'));
  expect(fixture.sources.totals()).toMatchObject({ bytes: 13 });
});

describe('failure while an encoder closes', () => {
  const failures: [string, (fixture: Awaited<ReturnType<typeof startLiveSource>>) => void][] = [
    [
      'its last segment cannot be added',
      ({ segmentStore, packager }) => {
        const segments = segmentStore.streams.get('one');
        if (segments) segments.add = throwError;
        void packager.encoder.exitWith();
      },
    ],
    ['its exit is an error', ({ packager }) => void packager.encoder.failExit(new Error('broken'))],
    [
      'it can be neither killed nor finished',
      ({ packager, session }) => {
        packager.encoder.kill = throwError;
        packager.encoder.finish = throwError;
        session.write(bytesOf('X'));
      },
    ],
    [
      'its sender leaves and it cannot be finished',
      ({ packager, session }) => {
        packager.encoder.finish = throwError;
        session.end('sender left');
      },
    ],
  ];
  const throwError = () => {
    throw new Error('broken');
  };

  test.each(failures)(
    '[M-16] a source ends, is not renewed and may return when %s',
    async (_, fail) => {
      const { logger, lines } = recordingLogger();
      const fixture = await startLiveSource({ logger });
      fail(fixture);
      await settled();
      expect(fixture.row.source).toBeNull();
      expect([...fixture.sources.liveSources()]).toEqual([]);
      expect(lines.map(({ err }) => (err as Error | undefined)?.message)).toContain('broken');
      fixture.store.operations.length = 0;
      await fixture.packager.advance(10_000);
      expect(fixture.store.operations).toEqual([]);
      expect(await reasonOf(fixture.sources.open(SOURCE_REQUEST))).toBe('opened');
    },
  );
});
