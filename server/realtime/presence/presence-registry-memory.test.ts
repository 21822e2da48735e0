import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { presenceRegistryContract } from '../../../test/support/presence/presence-registry-contract.ts';
import { asFromAnotherThread } from '../../../test/support/presence/register-from-thread.ts';
import { createMemoryPresence } from './presence-registry-memory.ts';
import { SharedPresenceWriter } from './shared-presence-writer.ts';

presenceRegistryContract('memory', (clock) => createMemoryPresence({ clock }));
presenceRegistryContract('memory, from another thread', (clock) =>
  asFromAnotherThread(createMemoryPresence({ clock }), clock),
);

describe('memory', () => {
  function setUp(maxSeats?: number) {
    const clock = { ms: 1_700_000_000_000, nowMs: () => clock.ms };
    const presence = createMemoryPresence(maxSeats === undefined ? { clock } : { clock, maxSeats });
    return { clock, presence };
  }

  test('is given back for streams that everyone left, when the live counts are read', () => {
    const { clock, presence } = setUp();
    for (let stream = 0; stream < 10_000; stream += 1) presence.register(`stream ${stream}`, 1);
    expect(presence.ringCount()).toBe(10_000);
    clock.ms += 1_250;
    presence.register('stream 7', 1);
    expect([...presence.liveCounts()]).toEqual([['stream 7', 1]]);
    expect(presence.ringCount()).toBe(1);
  });

  test('is given back within a minute of new streams, when nobody reads the live counts', () => {
    const { clock, presence } = setUp();
    for (let stream = 0; stream < 1_000; stream += 1) {
      presence.register(`stream ${stream}`, 1);
      clock.ms += 1_000;
      expect(presence.ringCount()).toBeLessThanOrEqual(62);
    }
  });

  test('is given back while other threads may register in it, and nobody is lost', () => {
    const { clock, presence: own } = setUp();
    const presence = asFromAnotherThread(own, clock);
    for (let beat = 0; beat < 5; beat += 1) {
      presence.register('stream', 1);
      presence.register('stream', 300);
      expect([presence.count('stream'), presence.ringCount()]).toEqual([2, 1]);
      clock.ms += 1_250;
      expect([[...presence.liveCounts()], presence.ringCount()]).toEqual([[], 0]);
    }
  });

  test('that was given back takes nothing from another thread that has not heard of it', () => {
    const { clock, presence } = setUp();
    const dropped: string[] = [];
    const marks: SharedPresenceWriter[] = [];
    presence.share({
      ringShared: (_, memory) => marks.push(new SharedPresenceWriter(memory)),
      ringDropped: (streamId) => dropped.push(streamId),
    });
    presence.register('stream', 1);
    expect(marks[0]?.register(2, intervalAt(clock.ms))).toBe(true);
    clock.ms += 1_250;
    expect([[...presence.liveCounts()], dropped]).toEqual([[], ['stream']]);
    expect(marks[0]?.register(2, intervalAt(clock.ms))).toBe(false);
  });

  test('[R-16] has room for what other threads register, though nothing is counted', () => {
    const { clock, presence } = setUp();
    const rings = new Map<string, SharedPresenceWriter>();
    presence.share({
      ringShared: (streamId, memory) => rings.set(streamId, new SharedPresenceWriter(memory)),
      ringDropped: () => {},
    });
    presence.register('stream', 1);
    for (let beat = 0; beat < 20; beat += 1) {
      clock.ms += 250;
      presence.advance();
      expect(rings.get('stream')?.register(1, intervalAt(clock.ms))).toBe(true);
    }
    clock.ms += 1_000;
    expect(rings.get('stream')?.register(1, intervalAt(clock.ms))).toBe(false);
    presence.advance();
    expect(rings.get('stream')?.register(2, intervalAt(clock.ms))).toBe(true);
    expect(presence.count('stream')).toBe(2);
  });

  test('[V-8] is not taken by asking for a count', () => {
    const { presence } = setUp();
    expect(presence.count('stream')).toBe(0);
    expect(presence.ringCount()).toBe(0);
  });

  test('[L-13] is bounded by the seats that a stream can have', () => {
    const { presence } = setUp(100);
    presence.register('stream', 99);
    expect(() => presence.register('stream', 100)).toThrow(RangeError);
    expect(presence.count('stream')).toBe(1);
  });
});
