import { describe, expect, test } from 'bun:test';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { openEventStream } from './event-stream.ts';
import type { FeedLog, FeedRange, IntervalListener } from './feed-log.ts';
import { IntervalStream } from './interval-stream.ts';
import { UNSENT_LIMITS, UnsentBudget } from './unsent-budget.ts';

const encoder = new TextEncoder();
const bodyOf = (interval: number) => encoder.encode(`{"interval":${interval},"events":[]}`);

/** A fake log, to which `seal` adds intervals. A page of `range` has three intervals. */
function testLog(sealedTo: number) {
  const listeners = new Set<IntervalListener>();
  let sealed = sealedTo;
  let reads = 0;
  const log: FeedLog = {
    watermark: () => sealed,
    read: (_streamId, interval) => bodyOf(interval),
    range: async (_streamId, from, to) => {
      reads++;
      const last = Math.min(from + 2, to);
      const page = [];
      for (let interval = from; interval <= last; interval++) {
        page.push({ interval, body: bodyOf(interval) });
      }
      return { page, next: last + 1 };
    },
    subscribe: (_streamId, listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    waitFor: () => {},
    activeStreams: () => [],
  };
  return {
    log,
    listeners,
    reads: () => reads,
    seal(interval: number, body = bodyOf(interval)) {
      sealed = interval;
      for (const listener of [...listeners]) listener(interval, body);
    },
  };
}

function open(log: FeedLog, from: number) {
  const ends: string[] = [];
  const owner = { viewer: 'a', client: null, onEnd: () => ends.push('end') };
  const stream = new UnsentBudget().open(owner, (observer) =>
    openEventStream({ log, streamId: 's', from, ...observer }),
  );
  const reader = stream.body.getReader();
  let text = '';
  const decoder = new TextDecoder();
  return {
    stream,
    ends,
    reader,
    /** Ids read so far, as soon as there are `count`. */
    async ids(count: number): Promise<number[]> {
      const found = () => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
      while (found().length < count) {
        const { value, done } = await reader.read();
        if (done) break;
        text += decoder.decode(value);
      }
      return found();
    },
    text: () => text,
  };
}

describe('an event stream', () => {
  test('[F-21] sends sealed intervals, then each new one, in order, each once', async () => {
    const { log, seal } = testLog(109);
    const { ids } = open(log, 100);
    expect(await ids(10)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109]);
    await Bun.sleep(0);
    seal(110);
    seal(111);
    expect((await ids(12)).slice(10)).toEqual([110, 111]);
  });

  test('[F-22] sends events with the interval as id and the bytes of its body as data', async () => {
    const { log } = testLog(100);
    const { ids, text } = open(log, 100);
    await ids(1);
    expect(text()).toContain('id: 100\ndata: {"interval":100,"events":[]}\n\n');
    expect(text()).not.toContain('event:');
  });

  test('[F-21] waits for an interval that is not sealed, and sends none before it', async () => {
    const { log, seal } = testLog(99);
    const { ids } = open(log, 102);
    for (let tick = 0; tick < 5; tick++) await Bun.sleep(0);
    for (let interval = 100; interval <= 103; interval++) seal(interval);
    expect(await ids(2)).toEqual([102, 103]);
  });

  test('[F-21] reads intervals from the database that were skipped while it was live', async () => {
    const { log, seal, reads } = testLog(100);
    const { ids } = open(log, 100);
    await ids(1);
    for (let tick = 0; tick < 5; tick++) await Bun.sleep(0);
    const readsBefore = reads();
    seal(150);
    const all = await ids(51);
    expect(all).toEqual(Array.from({ length: 51 }, (_, n) => 100 + n));
    expect(reads()).toBeGreaterThan(readsBefore);
  });

  test('[F-21] sends pages that come from memory for 4 ms of a turn, over all event streams', async () => {
    let nowMs = 0;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
    try {
      const { log, reads } = testLog(159);
      const range: FeedLog['range'] = (...page) => {
        nowMs += 1;
        return log.range(...page);
      };
      const slowLog = { ...log, range };
      const streams = Array.from({ length: 50 }, () => open(slowLog, 100));
      for (let turn = 0, before = 0; turn < 20; turn++, before = reads()) {
        await new Promise((resolve) => setImmediate(resolve));
        expect(reads() - before).toBeLessThanOrEqual(4);
      }
      expect(reads()).toBeGreaterThan(40);
      for (const { ids } of streams) expect((await ids(60)).length).toBe(60);
    } finally {
      replaceRuntime(SYSTEM_RUNTIME);
    }
  });

  test('[F-21] streams that waited for one read send its page for 4 ms of a turn', async () => {
    let nowMs = 0;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
    try {
      const { log } = testLog(102);
      const read = Promise.withResolvers<FeedRange>();
      const shared = { ...log, range: () => read.promise };
      let written = 0;
      const write = () => {
        written++;
        nowMs += 1;
      };
      const sink = { write, unsentBytes: () => 0, end: () => {}, abort: () => {} };
      const options = { streamId: 's', from: 100, sink, onEnd: () => {}, onUnsent: () => {} };
      const all = Array.from({ length: 40 }, () =>
        new IntervalStream({ log: shared, ...options }).onWritable(),
      );
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
      read.resolve(await log.range('s', 100, 102));
      for (let turn = 0, before = 0; turn < 15; turn++, before = written) {
        await new Promise((resolve) => setImmediate(resolve));
        expect(written - before).toBeLessThanOrEqual(4);
      }
      await Promise.all(all);
      expect(written).toBe(40);
    } finally {
      replaceRuntime(SYSTEM_RUNTIME);
    }
  });

  test('[F-25] few pages from the database wait in memory until they are sent', async () => {
    const { log } = testLog(102);
    let read = 0;
    let written = 0;
    const range: FeedLog['range'] = async (...page) => {
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
      read++;
      return log.range(...page);
    };
    const slowLog = { ...log, range };
    const sink = { write: () => void written++, unsentBytes: () => 0, end() {}, abort() {} };
    const options = { streamId: 's', from: 100, sink, onEnd() {}, onUnsent() {} };
    const all = Array.from({ length: 200 }, () =>
      new IntervalStream({ log: slowLog, ...options }).onWritable(),
    );
    let isOver = false;
    const finished = Promise.all(all).finally(() => {
      isOver = true;
    });
    let mostWaiting = 0;
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      mostWaiting = Math.max(mostWaiting, read - written);
    }
    await finished;
    expect(written).toBe(200);
    expect(mostWaiting).toBeLessThan(10);
  });

  test('[F-21] streams that catch up become live, however many wait for their time', async () => {
    let nowMs = 0;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
    try {
      const { log, seal, listeners } = testLog(100);
      const write = () => {
        nowMs += 1;
      };
      const sink = { write, unsentBytes: () => 0, end: () => {}, abort: () => {} };
      const options = { streamId: 's', from: 100, sink, onEnd: () => {}, onUnsent: () => {} };
      for (let n = 0; n < 60; n++) void new IntervalStream({ log, ...options }).onWritable();
      for (let turn = 1; turn <= 30; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        if (turn % 3 === 0) seal(100 + turn / 3);
      }
      expect(listeners.size).toBe(60);
    } finally {
      replaceRuntime(SYSTEM_RUNTIME);
    }
  });

  test('[F-21] a stream whose client has left reads no page', async () => {
    const { log, reads } = testLog(159);
    const sink = { write: () => {}, unsentBytes: () => 0, end: () => {}, abort: () => {} };
    const options = { streamId: 's', from: 100, sink, onEnd: () => {}, onUnsent: () => {} };
    const streams = Array.from({ length: 100 }, () => new IntervalStream({ log, ...options }));
    const all = streams.map((stream) => stream.onWritable());
    for (const stream of streams) stream.onClosed();
    await Promise.all(all);
    expect(reads()).toBe(1);
  });

  test('[F-21] [F-3] networks take turns to catch up, also behind a page that the database does not return', async () => {
    const { log } = testLog(159);
    const isStuck = Promise.withResolvers<never>();
    const range: FeedLog['range'] = (streamId, from, to, client) =>
      streamId === 'stuck' ? isStuck.promise : log.range(streamId, from, to, client);
    const order: string[] = [];
    const shared = { ...log, range };
    const openOf = (address: string, streamId = 's') => {
      const sink = {
        write: () => void order.push(address),
        unsentBytes: () => 0,
        end: () => {},
        abort: () => {},
      };
      const stream = new IntervalStream({
        log: shared,
        streamId,
        from: 157,
        client: () => address,
        sink,
        onEnd: () => {},
        onUnsent: () => {},
      });
      return stream.onWritable();
    };
    void openOf('10.0.0.1', 'stuck');
    const many = Array.from({ length: 20 }, () => openOf('10.0.0.1'));
    await openOf('192.0.2.1');
    expect(order.length).toBeLessThan(5);
    await Promise.all(many);
    expect(order.length).toBe(21);
  });

  test('[F-25] disconnects when 1 MB is unsent, and drops it', async () => {
    const { log, seal, listeners } = testLog(100);
    const { ids, ends } = open(log, 101);
    for (let tick = 0; tick < 5; tick++) await Bun.sleep(0);
    const large = new Uint8Array(100_000).fill(0x61);
    for (let n = 0; n < 2 + (2 * UNSENT_LIMITS.viewerBytes) / large.length; n++)
      seal(101 + n, large.slice());
    expect(ends).toEqual(['end']);
    expect(listeners.size).toBe(0);
    expect(await ids(1).catch(() => 'disconnected')).toBe('disconnected');
  });

  test('[F-25] ends by end(), and when its reader disconnects', async () => {
    const first = testLog(100);
    const ended = open(first.log, 100);
    await ended.ids(1);
    ended.stream.end();
    ended.stream.end();
    expect(ended.ends).toEqual(['end']);
    expect(first.listeners.size).toBe(0);

    const second = testLog(100);
    const canceled = open(second.log, 101);
    for (let tick = 0; tick < 5; tick++) await Bun.sleep(0);
    await canceled.reader.cancel();
    expect(canceled.ends).toEqual(['end']);
    expect(second.listeners.size).toBe(0);
    second.seal(101);
  });

  // The runtime must end a stream that no client receives: it would take each interval until the token expires.
  test('[G-9] an event stream ends at once as the body of a response to HEAD', async () => {
    const { log, listeners } = testLog(100);
    const end = Promise.withResolvers<void>();
    const observer = { onEnd: end.resolve, onUnsent: () => {} };
    const server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () =>
        new Response(openEventStream({ log, streamId: 's', from: 101, ...observer }).body),
    });
    const response = await fetch(server.url, { method: 'HEAD' });
    expect(response.status).toBe(200);
    await end.promise;
    expect(listeners.size).toBe(0);
    await server.stop(true);
  });

  /** Opens unread streams, one for each of `viewers`, that begin with a page of this size. */
  async function openUnread(viewers: readonly string[], client: string | null, pageBytes: number) {
    const { log } = testLog(300);
    const body = new Uint8Array(pageBytes).fill(0x61);
    let pages = 0;
    const range: FeedLog['range'] = async (_streamId, from) => {
      pages++;
      return { page: [{ interval: from, body }], next: from + 1 };
    };
    const budget = new UnsentBudget();
    let openCount = 0;
    for (const viewer of viewers) {
      const onEnd = () => openCount--;
      openCount++;
      budget.open({ viewer, client, onEnd }, (observer) =>
        openEventStream({ log: { ...log, range }, streamId: 's', from: 100, ...observer }),
      );
    }
    for (let before = -1; pages !== before; ) {
      before = pages;
      for (let tick = 0; tick < 5; tick++) await Bun.sleep(0);
    }
    return openCount;
  }

  test.each([64_000, 700_000])(
    '[F-25] counts all %i bytes of a page of older intervals that a viewer does not read',
    async (pageBytes) => {
      const ofViewer = await openUnread(Array<string>(100).fill('a'), null, pageBytes);
      expect(ofViewer * pageBytes).toBeLessThanOrEqual(UNSENT_LIMITS.viewerBytes);
      const viewers = Array.from({ length: 300 }, (_, n) => `viewer ${n}`);
      const ofClient = await openUnread(viewers, 'one', pageBytes);
      expect(ofClient * pageBytes).toBeLessThanOrEqual(UNSENT_LIMITS.clientBytes);
      expect(ofViewer).toBeGreaterThan(0);
    },
  );

  test('[F-25] does not cut the only stream of a viewer for one large page', async () => {
    expect(await openUnread(['a', 'b'], null, 2 * UNSENT_LIMITS.viewerBytes)).toBe(2);
  });
});
