import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../../server/platform/clock.ts';
import type { ShareableTally, Tally } from '../../../server/realtime/presence/presence-registry.ts';
import { SeatMarks } from '../../../server/realtime/presence/shared-presence-writer.ts';

/**
 * A tally in which viewers register as they do in another thread: in the memory that it shares, and by
 * itself where that thread cannot. For tests.
 */
export function asFromAnotherThread<T extends Tally & ShareableTally>(tally: T, clock: Clock): T {
  const rings = new Map<string, SeatMarks>();
  tally.share({
    shared: (streamId, memory) => rings.set(streamId, new SeatMarks(memory)),
    dropped: (streamId) => rings.delete(streamId),
  });
  return {
    ...tally,
    register(streamId, seat) {
      const interval = intervalAt(clock.nowMs());
      const isMade = tally.away() === null && rings.get(streamId)?.register(seat, interval);
      if (!isMade) tally.register(streamId, seat);
    },
  };
}
