import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { StreamStatus } from '../../../protocol/streams.ts';
import type { Store } from '../../../server/app/procedures.ts';

/** A record on which sources can be tried; nobody else seals there. */
export interface SourcesFixture {
  /** Two or more that work on one record; the same one where there is only one. */
  readonly nodes: readonly Store[];
  readonly producer: string;
  newStream(): Promise<string>;
  close(): Promise<void>;
}

const START_MS = intervalStartMs(7_100_000_000);
const GRACE_MS = 30_000;
const HEALTH = { bitrate: 4_000_000, fps: 30, speed: 1, dropped: 0, width: 1280, height: 720 };

/** What the database does with sources, whatever it is kept in (SPEC M-1, M-6 – M-8). */
export function sourcesContract(name: string, openFixture: () => Promise<SourcesFixture>): void {
  let fixture: SourcesFixture;
  let store: Store;
  /** The moment up to which everything is sealed: now, for all tests here. */
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

  /** Time passes, and sealing goes on as it should. */
  async function pass(ms: number): Promise<void> {
    const untilMs = nowMs + ms;
    while (nowMs < untilMs) await sealAt(Math.min(untilMs, nowMs + 4 * INTERVAL_MS));
  }

  /** Time passes in which nothing is sealed; then everything is, at once. */
  const standStill = (ms: number) => sealAt(nowMs + ms);

  const own = (id: string) => ({ id, producer: fixture.producer });
  const statusOf = async (id: string): Promise<StreamStatus> =>
    (await store.findOwnStream(own(id))).status;
  const end = (id: string) => store.endStream({ ...own(id), atMs: null, nowMs });

  async function newStreamWithKey(): Promise<{ id: string; key: string }> {
    const id = await fixture.newStream();
    return { id, key: await store.keepStreamKey({ ...own(id), offered: `sk_${randomUUID()}` }) };
  }

  const open = (key: string, session: string, node = store) =>
    node.openSource({ key, session, kind: 'rtmp', nowMs, graceMs: GRACE_MS });
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

  describe(`sources in the database in ${name}`, () => {
    test('[M-1] a key is made on the first look and kept, and opens the stream it belongs to', async () => {
      const id = await fixture.newStream();
      expect(await store.findIngest({ ...own(id), nowMs })).toEqual({ key: null, source: null });
      const key = `sk_${randomUUID()}`;
      expect(await store.keepStreamKey({ ...own(id), offered: key })).toBe(key);
      expect(await store.keepStreamKey({ ...own(id), offered: 'another' })).toBe(key);
      expect(await store.findIngest({ ...own(id), nowMs })).toEqual({ key, source: null });
      expect(await open(key, 'first')).toMatchObject({
        outcome: 'opened',
        stream: { id, status: 'STREAMING', started: nowMs },
      });
    });

    test('[M-1] of two first looks at once one makes the key', async () => {
      const id = await fixture.newStream();
      const offers = fixture.nodes.map((node, at) =>
        node.keepStreamKey({ ...own(id), offered: `sk_${at}_${randomUUID()}` }),
      );
      expect(new Set(await Promise.all(offers)).size).toBe(1);
    });

    test('[M-1] a rotated key opens nothing, and the source that it opened goes on', async () => {
      const { id, key } = await newStreamWithSource();
      const next = `sk_${randomUUID()}`;
      const rotated = await store.rotateStreamKey({ ...own(id), key: next, nowMs });
      expect(rotated).toEqual({ key: next, source: { kind: 'rtmp', health: null } });
      expect(await open(key, 'second')).toEqual({ outcome: 'unknown-key' });
      expect(await renew(id, 'first')).toEqual({ outcome: 'renewed', recording: false });
      await release(id, 'first');
      expect(await outcomeOf(key, 'second')).toBe('unknown-key');
      expect(await outcomeOf(next, 'second')).toBe('opened');
    });

    test('[M-5] a key that nobody has is unknown, and changes nothing', async () => {
      expect(await open('sk_nobody', 'first')).toEqual({ outcome: 'unknown-key' });
    });

    test('[M-4] [M-5] the key of another stream opens neither', async () => {
      const [one, other] = [await newStreamWithKey(), await newStreamWithKey()];
      const source = { key: one.key, session: 'first', kind: 'websocket' as const };
      const lease = { nowMs, graceMs: GRACE_MS };
      const wrong = { ...source, ...lease, streamId: other.id };
      expect(await store.openSource(wrong)).toEqual({ outcome: 'unknown-key' });
      expect([await statusOf(one.id), await statusOf(other.id)]).toEqual(['CREATED', 'CREATED']);
      const right = { ...wrong, streamId: one.id };
      expect(await store.openSource(right)).toMatchObject({ outcome: 'opened' });
    });

    test('[M-6] a second source is refused until the first was silent for 6 s', async () => {
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

    test('[M-6] one that says it is gone leaves its place at once, but nobody else’s', async () => {
      const { id, key } = await newStreamWithSource();
      await release(id, 'first');
      expect(await store.findIngest({ ...own(id), nowMs })).toEqual({ key, source: null });
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'lost' });
      expect(await outcomeOf(key, 'second')).toBe('opened');
      await release(id, 'first');
      expect(await outcomeOf(key, 'third')).toBe('busy');
    });

    test('[M-6] one that asks again, since it did not hear the answer, is the source', async () => {
      const { key } = await newStreamWithSource();
      expect(await outcomeOf(key, 'first')).toBe('opened');
    });

    test('[M-6] [M-8] of two that come to two nodes at once one is the source', async () => {
      for (let round = 0; round < 20; round++) {
        const { key } = await newStreamWithKey();
        const told = await Promise.all(fixture.nodes.map((node, at) => open(key, `${at}`, node)));
        const outcomes = told.map(({ outcome }) => outcome);
        expect(outcomes.filter((outcome) => outcome === 'opened')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'busy')).toHaveLength(told.length - 1);
      }
    });

    test('[M-7] a stream ends 30 s after its source was last heard of, and not before', async () => {
      const { id, key } = await newStreamWithSource();
      await pass(2_000);
      await renew(id, 'first');
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await store.findOwnStream(own(id))).toMatchObject({ status: 'ENDED', ended: nowMs });
      expect(await outcomeOf(key, 'second')).toBe('ended');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'ended' });
      // It is due no more.
      const { ended } = await store.findOwnStream(own(id));
      await pass(1_000);
      expect(await store.findOwnStream(own(id))).toMatchObject({ ended });
    });

    test('[M-7] a source that comes back in time goes on as if nothing had been', async () => {
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

    test('[B-1] [M-7] while its source is gone, a show says when it ends', async () => {
      const { id, key } = await newStreamWithSource();
      const endsAt = async () => (await store.readLiveShow({ ...own(id), nowMs })).sourceEndsAt;
      expect(await endsAt()).toBeNull();
      await pass(7_000);
      const told = (await endsAt()) ?? 0;
      expect(told).toBe(nowMs - 7_000 + GRACE_MS);
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

    test('[M-7] while nothing is sealed no time counts but 2 s: an outage ends no show', async () => {
      const { id, key } = await newStreamWithSource();
      await pass(20_000);
      await standStill(3_600_000);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(GRACE_MS - 22_000);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
      expect(await outcomeOf(key, 'second')).toBe('ended');
    });

    test('[M-6] [M-7] one that could not be renewed in an outage is the source after it', async () => {
      const { id, key } = await newStreamWithSource();
      await standStill(60_000);
      expect(await outcomeOf(key, 'second')).toBe('busy');
      expect(await renew(id, 'first')).toMatchObject({ outcome: 'renewed' });
      await pass(GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-7] who is heard of while sealing stands still has 30 s after it', async () => {
      const { id } = await newStreamWithSource();
      nowMs += 40_000;
      await renew(id, 'first');
      await standStill(40_000);
      await pass(GRACE_MS - INTERVAL_MS);
      expect(await statusOf(id)).toBe('STREAMING');
      await pass(2 * INTERVAL_MS);
      expect(await statusOf(id)).toBe('ENDED');
    });

    test('[M-8] a source starts its stream once, and one that has ended stays so', async () => {
      const { id, key } = await newStreamWithSource();
      const { started } = await store.findOwnStream(own(id));
      await pass(1_000);
      await release(id, 'first');
      expect(await open(key, 'second')).toMatchObject({ stream: { started } });
      await end(id);
      expect(await renew(id, 'second')).toMatchObject({ outcome: 'ended' });
      expect(await open(key, 'third')).toEqual({ outcome: 'ended' });
      expect(await store.findIngest({ ...own(id), nowMs })).toEqual({ key, source: null });
      await release(id, 'second');
      await pass(GRACE_MS + 1_000);
      expect(await store.findOwnStream(own(id))).toMatchObject({ status: 'ENDED', started });
    });

    test('[M-8] a stream that was started by hand, without a source, goes on', async () => {
      const { id } = await newStreamWithKey();
      await store.startStream({ ...own(id), nowMs });
      await pass(2 * GRACE_MS);
      expect(await statusOf(id)).toBe('STREAMING');
    });

    test('[M-1] the source and how it does are seen, while it is heard of', async () => {
      const { id } = await newStreamWithSource();
      await store.patchStream({ ...own(id), patch: { recording: true } });
      expect(await renew(id, 'first')).toEqual({ outcome: 'renewed', recording: true });
      const live = { kind: 'rtmp', health: HEALTH };
      expect(await store.findIngest({ ...own(id), nowMs })).toMatchObject({ source: live });
      await pass(6_000);
      expect(await store.findIngest({ ...own(id), nowMs })).toMatchObject({ source: null });
    });
  });
}
