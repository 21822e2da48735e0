import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { Clock } from '../../../server/platform/clock.ts';
import type {
  PresenceRegistry,
  ShareablePresence,
} from '../../../server/realtime/presence/presence-registry.ts';
import { SharedPresenceWriter } from '../../../server/realtime/presence/shared-presence-writer.ts';

const START_MS = intervalStartMs(6_800_000_000);

interface Heartbeat {
  passedMs: number;
  stream: number;
  seats: number[];
  evicted: number[];
}

const seat = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 5_000 }));

/** Heartbeats of a few viewers in a few streams, mostly close to each other in time. */
const heartbeats = fc.array(
  fc.record<Heartbeat>({
    passedMs: fc.oneof(fc.constant(0), fc.nat({ max: 400 }), fc.nat({ max: 3_000 })),
    stream: fc.nat({ max: 2 }),
    seats: fc.array(seat, { maxLength: 6 }),
    evicted: fc.oneof(
      { weight: 3, arbitrary: fc.constant<number[]>([]) },
      fc.array(seat, { maxLength: 3 }),
    ),
  }),
  { maxLength: 40, size: 'max' },
);

/**
 * Tests of every presence registry. Stream ids are random, so that registries may share a backend.
 * @param createPresence gets the clock of the registry
 */
export function presenceRegistryContract(
  name: string,
  createPresence: (clock: Clock) => PresenceRegistry | Promise<PresenceRegistry>,
): void {
  async function setUp() {
    const clock = { ms: START_MS, nowMs: () => clock.ms };
    const presence = await createPresence(clock);
    const liveCountsOf = (streamIds: string[]) =>
      [...presence.liveCounts()].filter(([streamId]) => streamIds.includes(streamId)).sort();
    return { clock, presence, liveCountsOf };
  }

  describe(`presence: ${name}`, () => {
    test('a stream without registrations has a count of 0', async () => {
      const { presence, liveCountsOf } = await setUp();
      const streamId = randomUUID();
      expect(await presence.count(streamId)).toBe(0);
      expect(liveCountsOf([streamId])).toEqual([]);
    });

    test('[V-6] a count right after a registration includes it', async () => {
      const { presence, liveCountsOf } = await setUp();
      const streamId = randomUUID();
      for (let seat = 0; seat < 40; seat += 1) {
        presence.register(streamId, seat);
        expect(await presence.count(streamId)).toBe(seat + 1);
      }
      expect(liveCountsOf([streamId])).toEqual([[streamId, 40]]);
    });

    test('[F-26] a published count includes a viewer whose heartbeat is late by the jitter of its timer', async () => {
      const { clock, presence } = await setUp();
      const streamId = randomUUID();
      for (let beat = 0; beat < 20; beat += 1) {
        // The last millisecond of an interval, and every other time 20 ms later.
        clock.ms = START_MS + 249 + beat * 1_000 + (beat % 2) * 20;
        presence.register(streamId, 4);
        // Sealing runs shortly after the end of the interval.
        clock.ms = START_MS + 1_250 + beat * 1_000 + 1;
        const ended = intervalAt(clock.ms) - 1;
        expect([...(await presence.countsAtEndOf(ended))]).toContainEqual([streamId, 1]);
      }
    });

    test('[V-5] a viewer with many tabs counts once', async () => {
      const { clock, presence } = await setUp();
      const streamId = randomUUID();
      for (let post = 0; post < 50; post += 1) {
        presence.register(streamId, 12);
        presence.register(streamId, 12);
        expect(await presence.count(streamId)).toBe(1);
        clock.ms += 97;
      }
    });

    test('[V-9] a viewer is counted in its own stream only', async () => {
      const { presence } = await setUp();
      const [one, other] = [randomUUID(), randomUUID()];
      presence.register(one, 1);
      expect([await presence.count(one), await presence.count(other)]).toEqual([1, 0]);
    });

    test('[V-3] a registration lasts 1 s, rounded up to the end of an interval', async () => {
      const { clock, presence } = await setUp();
      for (let phaseMs = 0; phaseMs < INTERVAL_MS; phaseMs += 1) {
        const streamId = randomUUID();
        const postMs = clock.ms - (clock.ms % INTERVAL_MS) + INTERVAL_MS + phaseMs;
        clock.ms = postMs;
        presence.register(streamId, 3);
        clock.ms = postMs + 1_000;
        expect(await presence.count(streamId)).toBe(1);
        clock.ms = postMs - phaseMs + 1_249;
        expect(await presence.count(streamId)).toBe(1);
        clock.ms = postMs - phaseMs + 1_250;
        expect(await presence.count(streamId)).toBe(0);
      }
    });

    test('[V-4] a viewer with a heartbeat each second does not flicker', async () => {
      const { clock, presence } = await setUp();
      const streamId = randomUUID();
      for (let post = 0; post < 20; post += 1) {
        clock.ms = START_MS + 83 + post * 1_000;
        presence.register(streamId, 0);
        for (let later = 0; later <= 1_000; later += 125) {
          clock.ms = START_MS + 83 + post * 1_000 + later;
          expect(await presence.count(streamId)).toBe(1);
        }
      }
    });

    test('[C-19] an evicted seat is not counted until it registers again', async () => {
      const { clock, presence, liveCountsOf } = await setUp();
      const [streamId, other] = [randomUUID(), randomUUID()];
      for (const id of [streamId, other]) presence.register(id, 7);
      for (const seat of [6, 8]) presence.register(streamId, seat);
      clock.ms += INTERVAL_MS;
      expect([...(await presence.countsAtEndOf(intervalAt(clock.ms) - 1))]).toContainEqual([
        streamId,
        3,
      ]);
      for (const seat of [7, 8]) presence.register(streamId, seat);
      await presence.evict(streamId, [7, 9]);
      expect([await presence.count(streamId), await presence.count(other)]).toEqual([2, 1]);
      expect(liveCountsOf([streamId])).toEqual([[streamId, 2]]);
      clock.ms += INTERVAL_MS;
      expect([...(await presence.countsAtEndOf(intervalAt(clock.ms) - 1))]).toContainEqual([
        streamId,
        2,
      ]);
      presence.register(streamId, 7);
      expect(await presence.count(streamId)).toBe(3);
    });

    test('[I-5] a count is the number of distinct seats with a registration that lasts', async () => {
      await fc.assert(
        fc.asyncProperty(heartbeats, async (beats) => {
          const { clock, presence, liveCountsOf } = await setUp();
          const streamIds = [randomUUID(), randomUUID(), randomUUID()].sort();
          const endsMs = streamIds.map(() => new Map<number, number>());
          for (const { passedMs, stream, seats, evicted } of beats) {
            clock.ms += passedMs;
            for (const seat of seats) {
              presence.register(streamIds[stream] as string, seat);
              // The end of the interval in which its second ends.
              const endMs = intervalStartMs(intervalAt(clock.ms + 1_000) + 1);
              endsMs[stream]?.set(seat, endMs);
            }
            if (evicted.length > 0) await presence.evict(streamIds[stream] as string, evicted);
            for (const seat of evicted) endsMs[stream]?.delete(seat);
            const expected = endsMs.map((ends) => [...ends.values()].filter((ms) => clock.ms < ms));
            const counts = await Promise.all(streamIds.map((streamId) => presence.count(streamId)));
            expect(counts).toEqual(expected.map((present) => present.length));
            expect(liveCountsOf(streamIds)).toEqual(
              streamIds
                .map((streamId, index) => [streamId, counts[index] as number] as const)
                .filter(([, count]) => count > 0),
            );
          }
        }),
      );
    });
  });
}

/**
 * A presence registry in which viewers register as in another thread: in shared memory, and by the
 * registry itself where that fails. For tests.
 */
export function withThreadRegistration<T extends PresenceRegistry & ShareablePresence>(
  presence: T,
  clock: Clock,
): T {
  const writers = new Map<string, SharedPresenceWriter>();
  presence.share({
    ringShared: (streamId, memory) => writers.set(streamId, new SharedPresenceWriter(memory)),
    ringDropped: (streamId) => writers.delete(streamId),
    streamArchived: (streamId) => writers.delete(streamId),
  });
  return {
    ...presence,
    register(streamId, seat) {
      const interval = intervalAt(clock.nowMs());
      const isRegistered =
        presence.unavailableReason() === null && writers.get(streamId)?.register(seat, interval);
      if (!isRegistered) presence.register(streamId, seat);
    },
  };
}
