import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { StreamStatus } from '../../../protocol/streams.ts';
import type { StreamPatch } from '../../../protocol/studio.ts';
import type { Store } from '../../../server/app/procedures.ts';

/** A database for tests of sources; nothing else seals in it. */
export interface SourcesFixture {
  /** Stores of two or more nodes on one database; the same one twice where there is only one. */
  readonly nodes: readonly Store[];
  readonly producer: string;
  newStream(): Promise<string>;
  close(): Promise<void>;
}

const START_MS = intervalStartMs(7_100_000_000);
const GRACE_MS = 30_000;
const SOURCES_MAX = 100;
const HEALTH = {
  ...{ bitrate: 4_000_000, fps: 30, speed: 1, dropped: 0, width: 1280, height: 720 },
  ...{ hasAudio: true, keyFrameIntervalMs: 2_000 },
};

/** Contract of sources in the database, for every implementation (SPEC M-1, M-6 – M-8). */
export function sourcesContract(name: string, openFixture: () => Promise<SourcesFixture>): void {
  let fixture: SourcesFixture;
  let store: Store;
  /** Current service time; everything before it is sealed. */
  let nowMs = START_MS;

  beforeAll(async () => {
    fixture = await openFixture();
    store = fixture.nodes[0] as Store;
    await sealAt(nowMs);
  }, 30_000);
  afterAll(() => fixture.close());

  async function sealAt(atMs: number): Promise<void> {
    const after = await store.readWatermark({});
    const interval = intervalAt(atMs) - 1;
    const sealing = { after, interval, nowMs: atMs, transients: [] };
    expect(await store.sealInterval(sealing)).toMatchObject({ outcome: 'sealed' });
    nowMs = atMs;
  }

  /** Advances time with regular sealing. */
  async function pass(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    while (nowMs < untilMs) await sealAt(Math.min(untilMs, nowMs + 4 * INTERVAL_MS));
  }

  /** Advances time without sealing, then seals everything at once. */
  const stallSealing = (ms: number) => sealAt(nowMs + ms);

  const owned = (id: string) => ({ id, producer: fixture.producer });
  const statusOf = async (id: string): Promise<StreamStatus> =>
    (await store.findOwnStream(owned(id))).status;
  const end = (id: string) => store.endStream({ ...owned(id), atMs: null, nowMs });

  async function newStreamWithKey(): Promise<{ id: string; key: string }> {
    const id = await fixture.newStream();
    return { id, key: await store.keepStreamKey({ ...owned(id), offered: `sk_${randomUUID()}` }) };
  }

  const open = (key: string, session: string, node = store, sourcesMax = SOURCES_MAX) =>
    node.openSource({ key, session, kind: 'rtmp', nowMs, graceMs: GRACE_MS, sourcesMax });
  const outcomeOf = async (key: string, session: string) => (await open(key, session)).outcome;
  const renew = (streamId: string, session: string) =>
    store.renewSource({ streamId, session, nowMs, graceMs: GRACE_MS, health: HEALTH });
  const release = (streamId: string, session: string) =>
    store.releaseSource({ streamId, session, nowMs, graceMs: GRACE_MS });

  async function newStreamWithSource(): Promise<{ id: string; key: string }> {
    const stream = await newStreamWithKey();
    expect(await outcomeOf(stream.key, 'first')).toBe('opened');
    return stream;
  }

  const start = (id: string) => store.startStream({ ...owned(id), nowMs });
  const patch = (id: string, fields: StreamPatch) =>
    store.patchStream({ ...owned(id), patch: fields, nowMs });
  const endsAtOf = async (id: string) =>
    (await store.readLiveShow({ ...owned(id), nowMs })).sourceEndsAt;

  /** A stream that its source does not start, with a source. */
  async function newPreview(): Promise<{ id: string; key: string }> {
    const stream = await newStreamWithKey();
    await patch(stream.id, { autoStart: false });
    expect(await outcomeOf(stream.key, 'first')).toBe('opened');
    return stream;
  }

  describe(`sources in ${name}`, () => {
    test('[Y-10] the source of a removed stream learns it with its renewal', async () => {
      expect(await renew(randomUUID(), 'first')).toEqual({ outcome: 'removed' });
    });

    test('[M-32] a source is a preview until the start, and then goes on as the source', async () => {
      const { id, key } = await newPreview();
      expect(await statusOf(id)).toBe('CREATED');
      expect(await renew(id, 'first')).toEqual({
        outcome: 'renewed',
        recording: false,
        started: null,
        reopened: null,
      });
      const source = { kind: 'rtmp' as const, health: HEALTH };
      expect(await store.findIngest({ ...owned(id), nowMs })).toEqual({
        ...{ key, source },
        sourceEndsAt: null,
      });
      expect(await store.readLiveShow({ ...owned(id), nowMs })).toMatchObject({
        source,
        sourceEndsAt: null,
      });
      expect(await open(key, 'second')).toEqual({ outcome: 'busy' });
      await pass(1_000);
      const startedMs = nowMs;
      await start(id);
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed', started: startedMs });
      expect(await outcomeOf(key, 'second')).toBe('busy');
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-32] a preview that stops ends nothing, before the start and after it', async () => {
      const { id, key } = await newPreview();
      await release(id, 'first');
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('CREATED');
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await release(id, 'second');
      await start(id);
      expect(await endsAtOf(id)).toBeNull();
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
    });

    test('[M-32] a source that was silent at the start counts from its next renewal on', async () => {
      const { id } = await newPreview();
      await pass(7_000);
      await start(id);
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed' });
      await pass(GRACE_MS + INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-33] a stream that is kept open does not end without its source', async () => {
      const { id, key } = await newStreamWithSource();
      await release(id, 'first');
      await pass(10_000);
      expect(await endsAtOf(id)).not.toBeNull();
      await patch(id, { keepOpen: true });
      expect(await endsAtOf(id)).toBeNull();
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await patch(id, { keepOpen: false });
      await pass(2 * GRACE_MS);
      expect([await statusOf(id), await endsAtOf(id)]).toEqual(['STREAMING', null]);
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await pass(GRACE_MS + INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-1] a key is created on the first request, stays the same, and opens its stream', async () => {
      const id = await fixture.newStream();
      expect(await store.findIngest({ ...owned(id), nowMs })).toEqual({
        key: null,
        source: null,
        sourceEndsAt: null,
      });
      const key = `sk_${randomUUID()}`;
      expect(await store.keepStreamKey({ ...owned(id), offered: key })).toBe(key);
      expect(await store.keepStreamKey({ ...owned(id), offered: 'another' })).toBe(key);
      expect(await store.findIngest({ ...owned(id), nowMs })).toEqual({
        key,
        source: null,
        sourceEndsAt: null,
      });
      expect(await open(key, 'first')).toMatchObject({
        outcome: 'opened',
        stream: { id, status: 'STREAMING', started: nowMs },
      });
    });

    test('[M-1] two concurrent first requests get the same key', async () => {
      const id = await fixture.newStream();
      const requests = fixture.nodes.map((node, index) =>
        node.keepStreamKey({ ...owned(id), offered: `sk_${index}_${randomUUID()}` }),
      );
      expect(new Set(await Promise.all(requests)).size).toBe(1);
    });

    test('[M-1] a rotated key is rejected, and the source that it opened continues', async () => {
      const { id, key } = await newStreamWithSource();
      const newKey = `sk_${randomUUID()}`;
      const rotated = await store.rotateStreamKey({ ...owned(id), key: newKey, nowMs });
      const source = { kind: 'rtmp', health: null } as const;
      expect(rotated).toEqual({ key: newKey, source, sourceEndsAt: null });
      expect(await open(key, 'second')).toEqual({ outcome: 'unknown-key' });
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed', recording: false });
      await release(id, 'first');
      expect(await outcomeOf(key, 'second')).toBe('unknown-key');
      expect(await outcomeOf(newKey, 'second')).toBe('opened');
    });

    test('[M-5] an unknown key is rejected', async () => {
      expect(await open('sk_nobody', 'first')).toEqual({ outcome: 'unknown-key' });
    });

    test('[M-4] [M-5] the key of another stream opens neither stream', async () => {
      const [first, other] = [await newStreamWithKey(), await newStreamWithKey()];
      const source = { key: first.key, session: 'first', kind: 'websocket' as const };
      const lease = { nowMs, graceMs: GRACE_MS, sourcesMax: SOURCES_MAX };
      const wrong = { ...source, ...lease, streamId: other.id };
      expect(await store.openSource(wrong)).toEqual({ outcome: 'unknown-key' });
      expect([await statusOf(first.id), await statusOf(other.id)]).toEqual(['CREATED', 'CREATED']);
      const right = { ...wrong, streamId: first.id };
      expect(await store.openSource(right)).toMatchObject({ outcome: 'opened' });
    });

    test('[M-35] a further source of an account is refused until another one left, and starts nothing', async () => {
      const streams = await Promise.all(Array.from({ length: 4 }, newStreamWithKey));
      // The sources of earlier tests are silent by then.
      await pass(6_000);
      const { nodes } = fixture;
      const openAll = () =>
        Promise.all(streams.map(({ key }, i) => open(key, 'first', nodes[i % nodes.length], 2)));
      const outcomes = (await openAll()).map(({ outcome }) => outcome);
      expect(outcomes.toSorted()).toEqual(['opened', 'opened', 'too-many', 'too-many']);
      const refused = streams.filter((_, i) => outcomes[i] === 'too-many');
      for (const { id } of refused) expect(await statusOf(id)).toBe('CREATED');
      // A source that opens again, after a lost response, is none of the others.
      expect((await openAll()).map(({ outcome }) => outcome)).toEqual(outcomes);
      const left = streams.find((_, i) => outcomes[i] === 'opened');
      await release(left?.id ?? '', 'first');
      const { key = '' } = refused[0] ?? {};
      expect((await open(key, 'first', store, 2)).outcome).toBe('opened');
    });

    test('[M-6] a second source is refused until the first is silent for 6 s', async () => {
      const { id, key } = await newStreamWithSource();
      expect(await open(key, 'second')).toEqual({ outcome: 'busy' });
      await pass(5_000);
      await renew(id, 'first');
      await pass(5_750);
      expect(await outcomeOf(key, 'second')).toBe('busy');
      await pass(250);
      expect(await outcomeOf(key, 'second')).toBe('opened');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'lost' });
      expect(await renew(id, 'second')).toMatchObject({ outcome: 'renewed' });
    });

    test('[M-6] a release takes effect at once, and only when it names the current session', async () => {
      const { id, key } = await newStreamWithSource();
      await release(id, 'first');
      expect(await store.findIngest({ ...owned(id), nowMs })).toEqual({
        key,
        source: null,
        sourceEndsAt: nowMs + GRACE_MS,
      });
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'lost' });
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await release(id, 'first');
      expect(await outcomeOf(key, 'third')).toBe('busy');
    });

    test('[M-6] a session may repeat its opening', async () => {
      const { key } = await newStreamWithSource();
      expect(await outcomeOf(key, 'first')).toBe('opened');
    });

    test('[M-6] [M-8] of two concurrent openings on two nodes, one succeeds', async () => {
      for (let round = 0; round < 20; round++) {
        const { key } = await newStreamWithKey();
        const results = await Promise.all(
          fixture.nodes.map((node, index) => open(key, `${index}`, node)),
        );
        const outcomes = results.map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === 'opened')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'busy')).toHaveLength(results.length - 1);
      }
    });

    test('[M-7] a stream ends 30 s after the last renewal of its source', async () => {
      const { id, key } = await newStreamWithSource();
      await pass(2_000);
      await renew(id, 'first');
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await store.findOwnStream(owned(id))).toMatchObject({ status: 'ENDED', ended: nowMs });
      expect(await outcomeOf(key, 'second')).toBe('ended');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'ended' });
      // The stream does not end a second time.
      const { ended } = await store.findOwnStream(owned(id));
      await pass(1_000);
      expect(await store.findOwnStream(owned(id))).toMatchObject({ ended });
    });

    test('[M-7] a source that returns in time continues its stream', async () => {
      const { id, key } = await newStreamWithSource();
      await pass(10_000);
      await release(id, 'first');
      await pass(GRACE_MS);
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[B-1] [M-7] a show without its source reports when it will end', async () => {
      const { id, key } = await newStreamWithSource();
      const endsAt = async () => {
        const { sourceEndsAt } = await store.readLiveShow({ ...owned(id), nowMs });
        expect((await store.findIngest({ ...owned(id), nowMs })).sourceEndsAt).toBe(sourceEndsAt);
        return sourceEndsAt;
      };
      expect(await endsAt()).toBeNull();
      await pass(7_000);
      const lostSourceEndMs = (await endsAt()) ?? 0;
      expect(lostSourceEndMs).toBe(nowMs - 7_000 + GRACE_MS);
      expect(await outcomeOf(key, 'second')).toBe('opened');
      expect(await endsAt()).toBeNull();
      await release(id, 'second');
      const last = (await endsAt()) ?? 0;
      expect(last).toBe(nowMs + GRACE_MS);
      await pass(last - nowMs);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
      expect(await endsAt()).toBeNull();
    });

    test('[M-7] a stall of sealing counts at most 2 s, so that an outage ends no show', async () => {
      const { id, key } = await newStreamWithSource();
      await pass(20_000);
      await stallSealing(3_600_000);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(GRACE_MS - 22_000);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
      expect(await outcomeOf(key, 'second')).toBe('ended');
    });

    test('[M-6] [M-7] a source that could not renew during an outage is the source after it', async () => {
      const { id, key } = await newStreamWithSource();
      await stallSealing(60_000);
      expect(await outcomeOf(key, 'second')).toBe('busy');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed' });
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-7] a renewal during a stall of sealing lasts until 30 s after the stall', async () => {
      const { id } = await newStreamWithSource();
      nowMs += 40_000;
      await renew(id, 'first');
      await stallSealing(40_000);
      await pass(GRACE_MS - INTERVAL_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(2 * INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[S-19] a reopened stream takes a source at once, and without one waits for its end', async () => {
      const { id, key } = await newStreamWithSource();
      await end(id);
      await release(id, 'first');
      await store.reopenStream({ ...owned(id), nowMs });
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await release(id, 'second');
      await pass(GRACE_MS + INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
      await store.reopenStream({ ...owned(id), nowMs });
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
    });

    test('[M-8] a source starts its stream once, and an ended stream stays ended', async () => {
      const { id, key } = await newStreamWithSource();
      const { started } = await store.findOwnStream(owned(id));
      await pass(1_000);
      await release(id, 'first');
      expect(await open(key, 'second')).toMatchObject({ stream: { started } });
      await end(id);
      expect(await renew(id, 'second')).toMatchObject({ outcome: 'ended' });
      expect(await open(key, 'third')).toEqual({ outcome: 'ended' });
      expect(await store.findIngest({ ...owned(id), nowMs })).toEqual({
        key,
        source: null,
        sourceEndsAt: null,
      });
      await release(id, 'second');
      await pass(GRACE_MS + 1_000);
      expect(await store.findOwnStream(owned(id))).toMatchObject({ status: 'ENDED', started });
    });

    test('[M-8] a stream started without a source does not end by itself', async () => {
      const { id } = await newStreamWithKey();
      await store.startStream({ ...owned(id), nowMs });
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
    });

    test('[M-1] a source and its health are reported while its lease is valid', async () => {
      const { id } = await newStreamWithSource();
      await store.patchStream({ ...owned(id), patch: { recording: true }, nowMs });
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed', recording: true });
      const live = { kind: 'rtmp', health: HEALTH };
      expect(await store.findIngest({ ...owned(id), nowMs })).toMatchObject({ source: live });
      await pass(6_000);
      expect(await store.findIngest({ ...owned(id), nowMs })).toMatchObject({ source: null });
    });
  });
}
