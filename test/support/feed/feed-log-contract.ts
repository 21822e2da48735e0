import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { PRODUCER } from '../streams/show-fixture.ts';
import type { FeedFixture, FeedNode } from './feed-fixture.ts';

const decoder = new TextDecoder();

interface FeedEvent {
  readonly type: string;
  readonly data: { readonly number?: number; readonly hearts?: number; readonly value?: number };
}

/** Tests of every feed log, on one node or on several. */
export function feedLogContract(name: string, openFixture: () => Promise<FeedFixture>): void {
  let fixture: FeedFixture;

  const nodeOf = (n: number) => fixture.nodes[n % fixture.nodes.length] as FeedNode;
  const read = async (node: FeedNode, streamId: string, interval: number) =>
    decoder.decode(await node.realtime.feed.read(streamId, interval));
  const eventsIn = (body: string) => JSON.parse(body).events as FeedEvent[];
  const current = () => intervalAt(nodeOf(0).clock.nowMs());
  const untilSealed = async (interval: number) => {
    for (const { realtime } of fixture.nodes) {
      while (realtime.feed.watermark() < interval) await Bun.sleep(5);
    }
  };

  /** Events of a stream between two intervals, as read on a node. */
  async function eventsBetween(node: FeedNode, streamId: string, from: number, to: number) {
    await untilSealed(to);
    const events: FeedEvent[] = [];
    for (let interval = from; interval <= to; interval++) {
      events.push(...eventsIn(await read(node, streamId, interval)));
    }
    return events;
  }

  async function produce(n: number, streamId: string, number: number): Promise<void> {
    const { store, clock } = nodeOf(n);
    const event = { type: 'custom', data: { number } } as const;
    await store.recordProducerEvent({ streamId, producer: PRODUCER, event, nowMs: clock.nowMs() });
  }

  describe(`feed log: ${name}`, () => {
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture.close());

    test('[F-3] [F-4] a read waits until the interval is sealed; later reads return at once', async () => {
      const streamId = await fixture.newStream();
      for (const { realtime, clock } of fixture.nodes) {
        const interval = intervalAt(clock.nowMs()) + 1;
        const pending = realtime.feed.read(streamId, interval);
        expect(pending).toBeInstanceOf(Promise);
        expect(JSON.parse(decoder.decode(await pending)).interval).toBe(interval);
        expect(clock.nowMs()).toBeGreaterThanOrEqual(intervalStartMs(interval + 1));
        expect(realtime.feed.watermark()).toBeGreaterThanOrEqual(interval);
        expect(realtime.feed.read(streamId, interval)).toBeInstanceOf(Uint8Array);
      }
    });

    test('[I-1] [I-2] [F-14] [N-4] an event is in one interval, with the same bytes on every node', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      const count = 40;
      for (let number = 0; number < count; number++) {
        await produce(number, streamId, number);
        if (number % 8 === 0) await Bun.sleep(60);
      }
      const to = current();
      await untilSealed(to);
      const numbers: (number | undefined)[] = [];
      for (let interval = from; interval <= to; interval++) {
        const bodies = await Promise.all(
          fixture.nodes.map((node) => read(node, streamId, interval)),
        );
        expect(new Set(bodies).size).toBe(1);
        numbers.push(...eventsIn(bodies[0] ?? '').map(({ data }) => data.number));
        const stored = { streamId, from: interval, to: interval, limit: 1 };
        const [row] = await nodeOf(interval).store.readSealed(stored);
        if (row) expect(row.body).toBe(bodies[0] ?? '');
      }
      expect(numbers).toEqual(Array.from({ length: count }, (_, number) => number));
    });

    test('[C-6] [C-9] posts on any node are in the feed once', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      for (let post = 1; post <= 30; post++) {
        nodeOf(post).chat.hearts(streamId, post);
        await Bun.sleep(10);
      }
      const to = current() + 1;
      for (const node of fixture.nodes) {
        const events = await eventsBetween(node, streamId, from, to);
        const hearts = events.reduce((sum, { data }) => sum + (data.hearts ?? 0), 0);
        expect(hearts).toBe((30 * 31) / 2);
      }
    });

    test('[F-26] [F-27] [V-5] a viewer is in one count a second until its registration expires, then there is a 0', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      for (const { realtime } of fixture.nodes) realtime.presence.register(streamId, 7);
      const to = from + 10;
      const counted: [number, number | undefined][] = [];
      await untilSealed(to);
      for (let interval = from; interval <= to; interval++) {
        const [row] = await nodeOf(0).store.readSealed({
          streamId,
          from: interval,
          to: interval,
          limit: 1,
        });
        for (const { type, data } of row ? eventsIn(row.body) : []) {
          if (type === 'view-count') counted.push([interval, data.value]);
        }
      }
      const values = counted.map(([, value]) => value);
      // A registration is in the counts at the end of its interval and of the next four.
      expect(values).toContain(1);
      expect(values.slice(0, values.lastIndexOf(1) + 1)).not.toContain(0);
      expect(values.at(values.lastIndexOf(1) + 1)).toBe(0);
      for (const [interval] of counted) expect(interval % 4).toBe(3);
    });

    test('[F-27] an active stream has a count, also of 0', async () => {
      const streamId = await fixture.newStream();
      const reader = nodeOf(1);
      const from = current();
      await read(reader, streamId, from + 1);
      const events = await eventsBetween(nodeOf(0), streamId, from, from + 7);
      expect(events).toContainEqual({
        type: 'view-count',
        data: { value: 0, formatted: '0' },
      } as never);
      expect([...reader.realtime.feed.activeStreams(reader.realtime.feed.watermark())]).toContain(
        streamId,
      );
    });

    test('[F-21] a listener receives every interval, in order, each once, with the same bytes', async () => {
      const streamId = await fixture.newStream();
      const received = fixture.nodes.map(() => new Map<number, string>());
      const starts = fixture.nodes.map(({ realtime }) => realtime.feed.watermark());
      const unsubscribes = fixture.nodes.map(({ realtime }, n) =>
        realtime.feed.subscribe(streamId, (interval, body) => {
          expect(received[n]?.has(interval)).toBe(false);
          received[n]?.set(interval, decoder.decode(body));
        }),
      );
      await produce(0, streamId, 1);
      const to = current() + 2;
      await untilSealed(to);
      for (const unsubscribe of unsubscribes) unsubscribe();
      for (const [n, node] of fixture.nodes.entries()) {
        const intervals = [...(received[n]?.keys() ?? [])];
        const first = (starts[n] ?? 0) + 1;
        expect(intervals).toEqual(intervals.map((_, index) => first + index));
        for (const [interval, body] of received[n] ?? []) {
          expect(await read(node, streamId, interval)).toBe(body);
        }
      }
    });

    test('[F-21] [F-23] a range has sealed intervals in order, and no others', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      await produce(0, streamId, 1);
      const to = from + 2;
      await untilSealed(to);
      for (const { realtime } of fixture.nodes) {
        const { page, next } = await realtime.feed.range(streamId, from, to + 1_000_000);
        expect(page.map(({ interval }) => interval)).toEqual(page.map((_, n) => from + n));
        expect(next).toBe(from + page.length);
        expect(next - 1).toBeLessThanOrEqual(realtime.feed.watermark());
        // Old empty intervals are left out.
        expect((await realtime.feed.range(streamId, 5, 5_000)).page).toEqual([]);
      }
    });

    test('[F-8] an old interval without events is empty', async () => {
      const streamId = await fixture.newStream();
      for (const node of fixture.nodes) {
        expect(await read(node, streamId, 5)).toBe('{"interval":5,"events":[]}');
      }
    });

    test('[I-1] [F-12] a sealed interval cannot be sealed again', async () => {
      const interval = current() - 1;
      await untilSealed(interval);
      const { store, clock } = nodeOf(0);
      const again = { nowMs: clock.nowMs(), transients: [] };
      for (const after of [interval - 1, interval - 2]) {
        const { outcome } = await store.sealInterval({ after, interval, ...again });
        expect(outcome).toBe('conflict');
      }
    });

    test('[F-9] [F-16] while sealing is stalled reads fail with 503; waiting events are in the next sealed interval', async () => {
      const streamId = await fixture.newStream();
      const stall = Promise.withResolvers<void>();
      for (const { storeBehavior } of fixture.nodes) storeBehavior.before = stall.promise;
      const interval = current() + 1;
      const reads = fixture.nodes.map(({ realtime }) =>
        Promise.resolve(realtime.feed.read(streamId, interval)).catch((error) => error),
      );
      await produce(0, streamId, 1);
      for (const error of await Promise.all(reads)) expect(error).toBeInstanceOf(Unavailable);
      const waitedMs = nodeOf(0).clock.nowMs() - intervalStartMs(interval + 1);
      expect(waitedMs).toBeGreaterThanOrEqual(740); // F-9: 750 ms, with a tolerance.
      for (const { storeBehavior } of fixture.nodes) storeBehavior.before = null;
      stall.resolve();
      const to = current();
      const events = await eventsBetween(nodeOf(0), streamId, interval - 2, to + 1);
      const customs = events.filter(({ type }) => type === 'custom');
      expect(customs).toEqual([{ type: 'custom', data: { number: 1 } }]);
    });

    test('[I-1] [K-6] [N-13] a node that starts later serves the same bytes, and seals after the watermark', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      await produce(0, streamId, 1);
      nodeOf(0).chat.hearts(streamId, 3);
      await untilSealed(from + 1);
      const before: string[] = [];
      for (let interval = from; interval <= from + 1; interval++) {
        before.push(await read(nodeOf(0), streamId, interval));
      }
      nodeOf(0).chat.hearts(streamId, 4);
      const last = current();
      if (fixture.nodes.length === 1) await nodeOf(0).stop();
      const newNode = await fixture.openNode();
      for (const [n, body] of before.entries()) {
        expect(await read(newNode, streamId, from + n)).toBe(body);
      }
      const to = last + 2;
      while (newNode.realtime.feed.watermark() < to) await Bun.sleep(5);
      let hearts = 0;
      for (let interval = from; interval <= to; interval++) {
        for (const { data } of eventsIn(await read(newNode, streamId, interval))) {
          hearts += data?.hearts ?? 0;
        }
      }
      expect(hearts).toBe(7);
    });
  });
}
