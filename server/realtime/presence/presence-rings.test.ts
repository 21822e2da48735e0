import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import {
  presenceRegistryContract,
  withThreadRegistration,
} from '../../../test/support/presence/presence-registry-contract.ts';
import { createMemoryPresence } from './presence-rings.ts';
import { SharedPresenceWriter } from './shared-presence-writer.ts';

presenceRegistryContract('memory', (clock) => createMemoryPresence({ clock }));
presenceRegistryContract('memory, from another thread', (clock) =>
  withThreadRegistration(createMemoryPresence({ clock }), clock),
);

describe('the memory of a registry', () => {
  function setUp(maxSeats?: number) {
    const clock = { ms: 1_700_000_000_000, nowMs: () => clock.ms };
    const archived = new Set<string>();
    const isArchived = (streamId: string) => archived.has(streamId);
    const presence = createMemoryPresence({ clock, isArchived, ...(maxSeats && { maxSeats }) });
    return { clock, presence, archived };
  }

  test('is freed for streams without viewers when the live counts are read', () => {
    const { clock, presence } = setUp();
    for (let stream = 0; stream < 10_000; stream += 1) presence.register(`stream ${stream}`, 1);
    expect(presence.ringCount()).toBe(10_000);
    clock.ms += 1_250;
    presence.register('stream 7', 1);
    expect([...presence.liveCounts()]).toEqual([['stream 7', 1]]);
    expect(presence.ringCount()).toBe(1);
  });

  test('is freed within a minute of new streams when nobody reads the live counts', () => {
    const { clock, presence } = setUp();
    for (let stream = 0; stream < 1_000; stream += 1) {
      presence.register(`stream ${stream}`, 1);
      clock.ms += 1_000;
      expect(presence.ringCount()).toBeLessThanOrEqual(62);
    }
  });

  test('is freed while other threads may register in it, without a lost viewer', () => {
    const { clock, presence: inner } = setUp();
    const presence = withThreadRegistration(inner, clock);
    for (let beat = 0; beat < 5; beat += 1) {
      presence.register('stream', 1);
      presence.register('stream', 300);
      expect([presence.count('stream'), presence.ringCount()]).toEqual([2, 1]);
      clock.ms += 1_250;
      expect([[...presence.liveCounts()], presence.ringCount()]).toEqual([[], 0]);
    }
  });

  test('rejects registrations of other threads after it was freed', () => {
    const { clock, presence } = setUp();
    const dropped: string[] = [];
    const writers: SharedPresenceWriter[] = [];
    presence.share({
      ringShared: (_, memory) => writers.push(new SharedPresenceWriter(memory)),
      ringDropped: (streamId) => dropped.push(streamId),
      streamArchived: () => {},
    });
    presence.register('stream', 1);
    expect(writers[0]?.register(2, intervalAt(clock.ms))).toBe(true);
    clock.ms += 1_250;
    expect([[...presence.liveCounts()], dropped]).toEqual([[], ['stream']]);
    expect(writers[0]?.register(2, intervalAt(clock.ms))).toBe(false);
  });

  test('[R-16] accepts registrations of other threads when it advances without being counted', () => {
    const { clock, presence } = setUp();
    const rings = new Map<string, SharedPresenceWriter>();
    presence.share({
      ringShared: (streamId, memory) => rings.set(streamId, new SharedPresenceWriter(memory)),
      ringDropped: () => {},
      streamArchived: () => {},
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

  test('[S-21] is freed when a stream is archived, and other threads cannot register in it any more', () => {
    const { clock, presence, archived } = setUp();
    const announced: string[] = [];
    const writers: SharedPresenceWriter[] = [];
    presence.share({
      ringShared: (_, memory) => writers.push(new SharedPresenceWriter(memory)),
      ringDropped: () => {},
      streamArchived: (streamId) => announced.push(streamId),
    });
    for (const streamId of ['old', 'new']) presence.register(streamId, 1);
    archived.add('old');
    expect([...presence.countsAtEndOf(intervalAt(clock.ms))]).toEqual([['new', 1]]);
    expect(announced).toEqual(['old']);
    expect(writers[0]?.register(1, intervalAt(clock.ms))).toBe(false);
    presence.register('old', 1);
    expect([presence.count('old'), presence.ringCount(), writers.length]).toEqual([0, 1, 2]);
    expect(announced).toEqual(['old', 'old']);
  });

  test('[V-8] is not allocated by reading a count', () => {
    const { presence } = setUp();
    expect(presence.count('stream')).toBe(0);
    expect(presence.ringCount()).toBe(0);
  });

  test('[L-13] is bounded by the most seats of a stream', () => {
    const { presence } = setUp(100);
    presence.register('stream', 99);
    expect(() => presence.register('stream', 100)).toThrow(RangeError);
    expect(presence.count('stream')).toBe(1);
  });
});
