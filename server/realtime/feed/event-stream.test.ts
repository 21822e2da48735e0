import { describe, expect, test } from 'bun:test';
import { openEventStream } from './event-stream.ts';
import type { FeedLog, IntervalListener } from './feed-log.ts';
import { UNSENT_BYTES_MAX } from './interval-stream.ts';

const encoder = new TextEncoder();
const bodyOf = (interval: number) => encoder.encode(`{"interval":${interval},"events":[]}`);

/** A log whose sealed intervals a test adds; a page holds three. */
function testLog(sealedTo: number) {
  const listeners = new Set<IntervalListener>();
  let sealed = sealedTo;
  let reads = 0;
  const log: FeedLog = {
    sealedTo: () => sealed,
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
    hold: () => {},
    watched: () => [],
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
  const stream = openEventStream({ log, streamId: 's', from, onEnd: () => ends.push('end') });
  const reader = stream.body.getReader();
  let text = '';
  const decoder = new TextDecoder();
  return {
    stream,
    ends,
    reader,
    /** Ids read so far, once `count` of them are there. */
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
  test('[F-21] sends what is sealed and then each interval as it is sealed, in order, each once', async () => {
    const { log, seal } = testLog(109);
    const { ids } = open(log, 100);
    expect(await ids(10)).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108, 109]);
    await Bun.sleep(0);
    seal(110);
    seal(111);
    expect((await ids(12)).slice(10)).toEqual([110, 111]);
  });

  test('[F-22] a message is the interval and the very bytes of its body', async () => {
    const { log } = testLog(100);
    const { ids, text } = open(log, 100);
    await ids(1);
    expect(text()).toContain('id: 100\ndata: {"interval":100,"events":[]}\n\n');
    expect(text()).not.toContain('event:');
  });

  test('[F-21] an interval that is still to come is waited for, and none before it is sent', async () => {
    const { log, seal } = testLog(99);
    const { ids } = open(log, 102);
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(0);
    for (let interval = 100; interval <= 103; interval++) seal(interval);
    expect(await ids(2)).toEqual([102, 103]);
  });

  test('[F-21] intervals that were skipped while it was live are read from the database', async () => {
    const { log, seal, reads } = testLog(100);
    const { ids } = open(log, 100);
    await ids(1);
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(0);
    const before = reads();
    seal(150);
    const all = await ids(51);
    expect(all).toEqual(Array.from({ length: 51 }, (_, n) => 100 + n));
    expect(reads()).toBeGreaterThan(before);
  });

  test('[F-25] a reader who lets 1 MB wait is cut off, and nothing more is kept for it', async () => {
    const { log, seal, listeners } = testLog(100);
    const { ids, ends } = open(log, 101);
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(0);
    const large = new Uint8Array(100_000).fill(0x61);
    for (let n = 0; n < 2 + (2 * UNSENT_BYTES_MAX) / large.length; n++)
      seal(101 + n, large.slice());
    expect(ends).toEqual(['end']);
    expect(listeners.size).toBe(0);
    const sent = await ids(1_000);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length * large.length).toBeLessThan(1.5 * UNSENT_BYTES_MAX);
  });

  test('[F-25] it ends when it is told to, and when its reader goes', async () => {
    const first = testLog(100);
    const told = open(first.log, 100);
    await told.ids(1);
    told.stream.end();
    told.stream.end();
    expect(told.ends).toEqual(['end']);
    expect(first.listeners.size).toBe(0);

    const second = testLog(100);
    const gone = open(second.log, 101);
    for (let turn = 0; turn < 5; turn++) await Bun.sleep(0);
    await gone.reader.cancel();
    expect(gone.ends).toEqual(['end']);
    expect(second.listeners.size).toBe(0);
    second.seal(101);
  });
});
