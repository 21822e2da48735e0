import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import { newChannels, OFFER } from '../../test/support/media/channels-fixture.ts';
import { bytesOf, heardLogger, settled } from '../../test/support/media/packager-fixture.ts';
import type { SourceSession } from './source.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  const left = jest.getTimerCount();
  jest.clearAllTimers();
  jest.useRealTimers();
  // Channels that were stopped leave no timer, and neither do their sources.
  expect(left).toBe(0);
});

type Scene = ReturnType<typeof newChannels>;

/** With a source that makes segments. */
async function live(options: Parameters<typeof newChannels>[0] = {}) {
  const scene = newChannels(options);
  const session = await scene.channels.open(OFFER);
  session.write(bytesOf('H;J1000;'));
  await scene.parts.probe.understands();
  scene.parts.encoder.makes(1_000, 2.5);
  return { ...scene, session };
}

async function stopped({ channels, parts }: Pick<Scene, 'channels' | 'parts'>): Promise<void> {
  const stopping = channels.stop();
  for (const encoder of parts.encoders) await encoder.ends({ code: 0 });
  await stopping;
}

const reasonOf = (opening: Promise<SourceSession>) =>
  opening.then(
    () => 'opened',
    (error) => error.reason,
  );

describe('a source', () => {
  test('[M-8] is taken, and what is made of it can be played', async () => {
    const scene = await live();
    expect(scene.row).toMatchObject({ status: 'STREAMING', source: 'session 1' });
    const playable = await scene.channels.find('one');
    expect(playable?.presentation()).toMatchObject({ isEnded: false, dvrMs: 7_200_000 });
    expect(playable?.presentation().segments).toHaveLength(2);
    const name = playable?.presentation().epochs[0]?.startMs ?? 0;
    expect(playable?.segment(name, 1, 'v0')).not.toBeNull();
    expect(await scene.channels.find('two')).toBeNull();
    await stopped(scene);
  });

  test('[M-5] with a wrong key is refused and counted', async () => {
    const scene = newChannels();
    expect(await reasonOf(scene.channels.open({ ...OFFER, key: 'sk_2' }))).toBe('unknown-key');
    const other = { ...OFFER, streamId: 'another' };
    expect(await reasonOf(scene.channels.open(other))).toBe('unknown-key');
    expect([...scene.channels.refused]).toEqual([['unknown-key', 2]]);
    expect(scene.parts.probes).toHaveLength(0);
    await stopped(scene);
  });

  test('[M-6] is the only one while it is alive', async () => {
    const scene = await live();
    expect(await reasonOf(scene.channels.open(OFFER))).toBe('busy');
    await scene.parts.pass(20_000);
    expect(await reasonOf(scene.channels.open(OFFER))).toBe('busy');
    expect(scene.channels.refused.get('busy')).toBe(2);
    await stopped(scene);
  });

  test('[M-7] that has left may come back at once, and its stream goes on', async () => {
    const scene = await live();
    scene.session.end('it has left');
    await scene.parts.encoder.ends({ code: 0 });
    expect(scene.row).toMatchObject({ status: 'STREAMING', source: null });
    expect([...scene.channels.live()]).toEqual([]);
    await scene.parts.pass(3_000);
    const again = await scene.channels.open(OFFER);
    again.write(bytesOf('H;J9000;'));
    await scene.parts.probe.understands();
    scene.parts.encoder.makes(9_000, 1.5);
    const presentation = (await scene.channels.find('one'))?.presentation();
    expect(presentation?.epochs.map(({ number }) => number)).toEqual([0, 1]);
    expect(presentation?.segments.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    await stopped(scene);
  });

  test('[M-6] waits for the last segment of the one before', async () => {
    const scene = await live();
    scene.session.end('it has left');
    await settled();
    let isTaken = false;
    const again = scene.channels.open(OFFER);
    void again.then(() => {
      isTaken = true;
    });
    await settled();
    expect([isTaken, scene.parts.probes.length]).toEqual([false, 1]);
    await scene.parts.encoder.ends({ code: 0 });
    await again;
    expect(scene.parts.probes).toHaveLength(2);
    await stopped(scene);
  });

  test('[M-6] whose place another has taken is ended', async () => {
    const scene = await live();
    scene.row.source = 'one of another node';
    await scene.parts.pass(2_000);
    expect(await scene.session.closed).toEqual({
      why: 'replaced',
      line: 'Another source has taken the stream.',
    });
    expect(scene.parts.encoder.isFinished).toBe(true);
    await scene.parts.encoder.ends({ code: 0 });
    expect(scene.row.source).toBe('one of another node');
    await stopped(scene);
  });

  test('[M-8] of a stream that has ended is ended, and none is taken', async () => {
    const scene = await live();
    scene.row.status = 'ENDED';
    await scene.parts.pass(2_000);
    expect(await scene.session.closed).toEqual({ why: 'ended', line: 'The stream has ended.' });
    await scene.parts.encoder.ends({ code: 0 });
    expect(await reasonOf(scene.channels.open(OFFER))).toBe('ended');
    expect((await scene.channels.find('one'))?.presentation().isEnded).toBe(false);
    // Its last segment is made: nothing comes any more.
    await scene.parts.pass(2_000);
    const playable = await scene.channels.find('one');
    expect(playable?.presentation().isEnded).toBe(true);
    expect(playable?.presentation().segments).toHaveLength(3);
    expect(scene.shelves.shelves.get('one')?.closed).toEqual({ isEnded: true });
    await stopped(scene);
  });

  test('[M-7] goes on while the database is unavailable, and others are told to come again', async () => {
    const scene = await live();
    scene.store.isUnavailable = true;
    scene.store.add('two', 'sk_2');
    expect(await reasonOf(scene.channels.open({ ...OFFER, key: 'sk_2' }))).toBe('unavailable');
    await scene.parts.pass(60_000);
    scene.session.write(bytesOf('P1500;'));
    expect(scene.parts.encoder.taken).toContain('P1500;');
    scene.store.isUnavailable = false;
    await scene.parts.pass(2_000);
    expect(scene.store.said.at(-1)).toBe('renew session 1: renewed');
    await stopped(scene);
  });

  test('[M-16] that is no video hears why, and its stream is free', async () => {
    const scene = newChannels();
    const session = await scene.channels.open(OFFER);
    session.write(bytesOf('X'));
    expect(await session.closed).toEqual({ why: 'not-understood', line: 'this is no container' });
    await settled();
    expect(scene.row.source).toBeNull();
    expect([...scene.channels.live()]).toEqual([]);
    expect(session.write(bytesOf('X'))).toBe(true);
    await stopped(scene);
  });

  test('[M-44] is refused with the reason where none can be encoded', async () => {
    const unable = async () => 'There is no ffmpeg.';
    const scene = newChannels({ unable });
    const opening = scene.channels.open(OFFER);
    await expect(opening).rejects.toMatchObject({
      reason: 'unavailable',
      message: 'There is no ffmpeg.',
    });
    expect(scene.row.status).toBe('CREATED');
    await stopped(scene);
  });

  test('[M-6] that cannot be begun gives its stream back', async () => {
    const { logger, lines } = heardLogger();
    const scene = newChannels({ logger });
    scene.shelves.failure = new Error('EIO');
    expect(await reasonOf(scene.channels.open(OFFER))).toBe('unavailable');
    expect(lines.at(-1)).toMatchObject({ msg: 'a source could not be taken', level: 50 });
    expect(scene.row.source).toBeNull();
    scene.shelves.failure = null;
    const session = await scene.channels.open(OFFER);
    expect(session.streamId).toBe('one');
    await stopped(scene);
  });

  test('[M-27] is kept whole when its stream is recorded, also when that is said later', async () => {
    const scene = await live();
    const shelf = scene.shelves.shelves.get('one');
    expect(shelf?.keeping).toBe('dvr');
    scene.row.recording = true;
    await scene.parts.pass(2_000);
    expect(shelf?.keeping).toBe('recording');
    expect((await scene.channels.find('one'))?.presentation().dvrMs).toBeNull();
    await stopped(scene);
  });
});

describe('a stop', () => {
  test('ends all sources, gives their streams back, and takes no more', async () => {
    const scene = await live();
    const stopping = scene.channels.stop();
    expect(await scene.session.closed).toEqual({
      why: 'stopping',
      line: 'The service stops; send again.',
    });
    await scene.parts.encoder.ends({ code: 0 });
    await stopping;
    expect(scene.row).toMatchObject({ status: 'STREAMING', source: null });
    // What was whole is there for the start after it.
    expect(scene.shelves.shelves.get('one')?.segments).toHaveLength(3);
    expect(await reasonOf(scene.channels.open(OFFER))).toBe('unavailable');
  });

  test('does not leave a source behind that was being taken', async () => {
    const scene = newChannels();
    const gate = Promise.withResolvers<void>();
    scene.store.gate = gate.promise;
    const opening = reasonOf(scene.channels.open(OFFER));
    await settled();
    const stopping = scene.channels.stop();
    gate.resolve();
    expect(await opening).toBe('unavailable');
    await stopping;
    await settled();
    expect(scene.row.source).toBeNull();
    expect(scene.parts.probes).toHaveLength(0);
  });

  test('does not wait for a record that is unavailable', async () => {
    const scene = await live();
    scene.store.isUnavailable = true;
    await stopped(scene);
    expect([...scene.channels.live()]).toEqual([]);
  });
});

test('[M-8] a stream that ended without its source here is ended for its viewers too', async () => {
  const scene = newChannels();
  await scene.shelves.open('one');
  scene.row.status = 'STREAMING';
  const playable = await scene.channels.find('one');
  await scene.parts.pass(4_000);
  expect(playable?.presentation().isEnded).toBe(false);
  scene.row.status = 'ENDED';
  scene.store.isUnavailable = true;
  await scene.parts.pass(2_000);
  expect(playable?.presentation().isEnded).toBe(false);
  scene.store.isUnavailable = false;
  await scene.parts.pass(2_000);
  expect(playable?.presentation().isEnded).toBe(true);
  await stopped(scene);
});

test('[M-27] a stream that had ended before the start is ended', async () => {
  const scene = newChannels();
  await scene.shelves.open('one');
  scene.row.status = 'ENDED';
  expect((await scene.channels.find('one'))?.presentation().isEnded).toBe(true);
  await stopped(scene);
});

test('[M-43] what sources came to is counted when they are gone, too', async () => {
  const scene = await live();
  expect(scene.channels.totals()).toEqual({ cpuSeconds: 1.5, restarts: 0, bytes: 8 });
  scene.session.end('it has left');
  await scene.parts.encoder.ends({ code: 0 });
  expect(scene.channels.totals()).toEqual({ cpuSeconds: 1.5, restarts: 0, bytes: 8 });
  const next = await scene.channels.open(OFFER);
  next.write(bytesOf('H;J1;'));
  expect(scene.channels.totals()).toMatchObject({ bytes: 13 });
  await stopped(scene);
});
