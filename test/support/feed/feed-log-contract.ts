import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { PRODUCER } from '../streams/show-fixture.ts';
import type { FeedFixture, FeedNode } from './feed-fixture.ts';

const decoder = new TextDecoder();

interface Event {
  readonly type: string;
  readonly data: { readonly number?: number; readonly hearts?: number; readonly value?: number };
}

/** What every feed log does, whatever it and its record are made of, on one node or on several. */
export function feedLogContract(name: string, openFixture: () => Promise<FeedFixture>): void {
  let fixture: FeedFixture;

  const nodeOf = (turn: number) => fixture.nodes[turn % fixture.nodes.length] as FeedNode;
  const read = async (node: FeedNode, streamId: string, interval: number) =>
    decoder.decode(await node.realtime.feed.read(streamId, interval));
  const eventsIn = (body: string) => JSON.parse(body).events as Event[];
  const current = () => intervalAt(nodeOf(0).clock.nowMs());
  const isSealed = async (interval: number) => {
    for (const { realtime } of fixture.nodes) {
      while (realtime.feed.watermark() < interval) await Bun.sleep(5);
    }
  };

  /** Events of a stream between two intervals, as read on a node. */
  async function eventsBetween(node: FeedNode, streamId: string, from: number, to: number) {
    await isSealed(to);
    const found: Event[] = [];
    for (let interval = from; interval <= to; interval++) {
      found.push(...eventsIn(await read(node, streamId, interval)));
    }
    return found;
  }

  async function produce(turn: number, streamId: string, number: number): Promise<void> {
    const { store, clock } = nodeOf(turn);
    const event = { type: 'custom', data: { number } } as const;
    await store.recordProducerEvent({ streamId, producer: PRODUCER, event, nowMs: clock.nowMs() });
  }

  describe(`feed log: ${name}`, () => {
    beforeAll(async () => {
      fixture = await openFixture();
    });
    afterAll(() => fixture.close());

    test('[F-3] [F-4] an interval is held until it is sealed, and from then on answered at once', async () => {
      const streamId = await fixture.newStream();
      for (const { realtime, clock } of fixture.nodes) {
        const interval = intervalAt(clock.nowMs()) + 1;
        const held = realtime.feed.read(streamId, interval);
        expect(held).toBeInstanceOf(Promise);
        expect(JSON.parse(decoder.decode(await held)).interval).toBe(interval);
        expect(clock.nowMs()).toBeGreaterThanOrEqual(intervalStartMs(interval + 1));
        expect(realtime.feed.watermark()).toBeGreaterThanOrEqual(interval);
        expect(realtime.feed.read(streamId, interval)).toBeInstanceOf(Uint8Array);
      }
    });

    test('[I-1] [I-2] [F-14] [N-4] an event is in one interval, the same bytes wherever it is read', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      const count = 40;
      for (let number = 0; number < count; number++) {
        await produce(number, streamId, number);
        if (number % 8 === 0) await Bun.sleep(60);
      }
      const to = current();
      await isSealed(to);
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

    test('[C-6] [C-9] posts are in the feed once, wherever they came in', async () => {
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

    test('[F-26] [F-27] [V-5] a viewer counts once a second until its time is over, then there is a 0', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      for (const { realtime } of fixture.nodes) realtime.presence.register(streamId, 7);
      const to = from + 10;
      const counted: [number, number | undefined][] = [];
      await isSealed(to);
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
      // At the end of an interval the registration lasts in this one and the next four.
      expect(values).toContain(1);
      expect(values.slice(0, values.lastIndexOf(1) + 1)).not.toContain(0);
      expect(values.at(values.lastIndexOf(1) + 1)).toBe(0);
      for (const [interval] of counted) expect(interval % 4).toBe(3);
    });

    test('[F-27] a stream that is read has a count, of 0 when nobody is there', async () => {
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

    test('[F-21] a listener is told of every interval, in order, each once, with its very bytes', async () => {
      const streamId = await fixture.newStream();
      const told = fixture.nodes.map(() => new Map<number, string>());
      const starts = fixture.nodes.map(({ realtime }) => realtime.feed.watermark());
      const stops = fixture.nodes.map(({ realtime }, n) =>
        realtime.feed.subscribe(streamId, (interval, body) => {
          expect(told[n]?.has(interval)).toBe(false);
          told[n]?.set(interval, decoder.decode(body));
        }),
      );
      await produce(0, streamId, 1);
      const to = current() + 2;
      await isSealed(to);
      for (const stop of stops) stop();
      for (const [n, node] of fixture.nodes.entries()) {
        const intervals = [...(told[n]?.keys() ?? [])];
        const first = (starts[n] ?? 0) + 1;
        expect(intervals).toEqual(intervals.map((_, place) => first + place));
        for (const [interval, body] of told[n] ?? []) {
          expect(await read(node, streamId, interval)).toBe(body);
        }
      }
    });

    test('[F-21] [F-23] a range has what was sealed, in order, and nothing that is not', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      await produce(0, streamId, 1);
      const to = from + 2;
      await isSealed(to);
      for (const { realtime } of fixture.nodes) {
        const { page, next } = await realtime.feed.range(streamId, from, to + 1_000_000);
        expect(page.map(({ interval }) => interval)).toEqual(page.map((_, n) => from + n));
        expect(next).toBe(from + page.length);
        expect(next - 1).toBeLessThanOrEqual(realtime.feed.watermark());
        // Empty ones of long ago are left out.
        expect((await realtime.feed.range(streamId, 5, 5_000)).page).toEqual([]);
      }
    });

    test('[F-8] an interval of long ago, or before the stream, is empty', async () => {
      const streamId = await fixture.newStream();
      for (const node of fixture.nodes) {
        expect(await read(node, streamId, 5)).toBe('{"interval":5,"events":[]}');
      }
    });

    test('[I-1] [F-12] nobody can seal a sealed interval again', async () => {
      const interval = current() - 1;
      await isSealed(interval);
      const { store, clock } = nodeOf(0);
      const again = { nowMs: clock.nowMs(), transients: [] };
      for (const after of [interval - 1, interval - 2]) {
        const { outcome } = await store.sealInterval({ after, interval, ...again });
        expect(outcome).toBe('behind');
      }
    });

    test('[F-9] [F-16] sealing that stalls: held requests hear 503, and what waits is in the newest interval', async () => {
      const streamId = await fixture.newStream();
      const stall = Promise.withResolvers<void>();
      for (const { storeBehavior } of fixture.nodes) storeBehavior.before = stall.promise;
      const asked = current() + 1;
      const answers = fixture.nodes.map(({ realtime }) =>
        Promise.resolve(realtime.feed.read(streamId, asked)).catch((error) => error),
      );
      await produce(0, streamId, 1);
      for (const answer of await Promise.all(answers)) expect(answer).toBeInstanceOf(Unavailable);
      const lateMs = nodeOf(0).clock.nowMs() - intervalStartMs(asked + 1);
      expect(lateMs).toBeGreaterThanOrEqual(740);
      for (const { storeBehavior } of fixture.nodes) storeBehavior.before = null;
      stall.resolve();
      const to = current();
      const events = await eventsBetween(nodeOf(0), streamId, asked - 2, to + 1);
      const customs = events.filter(({ type }) => type === 'custom');
      expect(customs).toEqual([{ type: 'custom', data: { number: 1 } }]);
    });

    test('[I-1] [K-6] [N-13] a node that starts later serves the same, and seals after what is sealed', async () => {
      const streamId = await fixture.newStream();
      const from = current();
      await produce(0, streamId, 1);
      nodeOf(0).chat.hearts(streamId, 3);
      await isSealed(from + 1);
      const before: string[] = [];
      for (let interval = from; interval <= from + 1; interval++) {
        before.push(await read(nodeOf(0), streamId, interval));
      }
      nodeOf(0).chat.hearts(streamId, 4);
      const last = current();
      if (fixture.nodes.length === 1) await nodeOf(0).stop();
      const late = await fixture.openNode();
      for (const [n, body] of before.entries()) {
        expect(await read(late, streamId, from + n)).toBe(body);
      }
      const to = last + 2;
      while (late.realtime.feed.watermark() < to) await Bun.sleep(5);
      let hearts = 0;
      for (let interval = from; interval <= to; interval++) {
        for (const { data } of eventsIn(await read(late, streamId, interval))) {
          hearts += data?.hearts ?? 0;
        }
      }
      expect(hearts).toBe(7);
    });
  });
}
