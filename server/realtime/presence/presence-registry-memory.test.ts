import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../../protocol/interval.ts';
import { tallyContract } from '../../../test/support/presence/presence-registry-contract.ts';
import { asFromAnotherThread } from '../../../test/support/presence/register-from-thread.ts';
import { createMemoryTally } from './presence-registry-memory.ts';
import { SeatMarks } from './shared-presence-writer.ts';

tallyContract('memory', (clock) => createMemoryTally({ clock }));
tallyContract('memory, from another thread', (clock) =>
  asFromAnotherThread(createMemoryTally({ clock }), clock),
);

describe('memory', () => {
  function setUp(maxSeats?: number) {
    const clock = { ms: 1_700_000_000_000, nowMs: () => clock.ms };
    const tally = createMemoryTally(maxSeats === undefined ? { clock } : { clock, maxSeats });
    return { clock, tally };
  }

  test('is given back for streams that everyone left, when the live counts are read', () => {
    const { clock, tally } = setUp();
    for (let stream = 0; stream < 10_000; stream += 1) tally.register(`stream ${stream}`, 1);
    expect(tally.heldStreams()).toBe(10_000);
    clock.ms += 1_250;
    tally.register('stream 7', 1);
    expect([...tally.liveCounts()]).toEqual([['stream 7', 1]]);
    expect(tally.heldStreams()).toBe(1);
  });

  test('is given back within a minute of new streams, when nobody reads the live counts', () => {
    const { clock, tally } = setUp();
    for (let stream = 0; stream < 1_000; stream += 1) {
      tally.register(`stream ${stream}`, 1);
      clock.ms += 1_000;
      expect(tally.heldStreams()).toBeLessThanOrEqual(62);
    }
  });

  test('is given back while other threads may register in it, and nobody is lost', () => {
    const { clock, tally: own } = setUp();
    const tally = asFromAnotherThread(own, clock);
    for (let beat = 0; beat < 5; beat += 1) {
      tally.register('stream', 1);
      tally.register('stream', 300);
      expect([tally.count('stream'), tally.heldStreams()]).toEqual([2, 1]);
      clock.ms += 1_250;
      expect([[...tally.liveCounts()], tally.heldStreams()]).toEqual([[], 0]);
    }
  });

  test('that was given back takes nothing from another thread that has not heard of it', () => {
    const { clock, tally } = setUp();
    const dropped: string[] = [];
    const marks: SeatMarks[] = [];
    tally.share({
      shared: (_, memory) => marks.push(new SeatMarks(memory)),
      dropped: (streamId) => dropped.push(streamId),
    });
    tally.register('stream', 1);
    expect(marks[0]?.register(2, intervalAt(clock.ms))).toBe(true);
    clock.ms += 1_250;
    expect([[...tally.liveCounts()], dropped]).toEqual([[], ['stream']]);
    expect(marks[0]?.register(2, intervalAt(clock.ms))).toBe(false);
  });

  test('[R-16] has room for what other threads register, though nothing is counted', () => {
    const { clock, tally } = setUp();
    const rings = new Map<string, SeatMarks>();
    tally.share({
      shared: (streamId, memory) => rings.set(streamId, new SeatMarks(memory)),
      dropped: () => {},
    });
    tally.register('stream', 1);
    for (let beat = 0; beat < 20; beat += 1) {
      clock.ms += 250;
      tally.turn();
      expect(rings.get('stream')?.register(1, intervalAt(clock.ms))).toBe(true);
    }
    clock.ms += 1_000;
    expect(rings.get('stream')?.register(1, intervalAt(clock.ms))).toBe(false);
    tally.turn();
    expect(rings.get('stream')?.register(2, intervalAt(clock.ms))).toBe(true);
    expect(tally.count('stream')).toBe(2);
  });

  test('[V-8] is not taken by asking for a count', () => {
    const { tally } = setUp();
    expect(tally.count('stream')).toBe(0);
    expect(tally.heldStreams()).toBe(0);
  });

  test('[L-13] is bounded by the seats that a stream can have', () => {
    const { tally } = setUp(100);
    tally.register('stream', 99);
    expect(() => tally.register('stream', 100)).toThrow(RangeError);
    expect(tally.count('stream')).toBe(1);
  });
});
