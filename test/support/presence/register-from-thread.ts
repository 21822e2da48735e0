import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../../server/platform/clock.ts';
import type {
  PresenceRegistry,
  ShareablePresence,
} from '../../../server/realtime/presence/presence-registry.ts';
import { SharedPresenceWriter } from '../../../server/realtime/presence/shared-presence-writer.ts';

/**
 * A tally in which viewers register as they do in another thread: in the memory that it shares, and by
 * itself where that thread cannot. For tests.
 */
export function asFromAnotherThread<T extends PresenceRegistry & ShareablePresence>(
  presence: T,
  clock: Clock,
): T {
  const rings = new Map<string, SharedPresenceWriter>();
  presence.share({
    ringShared: (streamId, memory) => rings.set(streamId, new SharedPresenceWriter(memory)),
    ringDropped: (streamId) => rings.delete(streamId),
  });
  return {
    ...presence,
    register(streamId, seat) {
      const interval = intervalAt(clock.nowMs());
      const isMade =
        presence.unavailable() === null && rings.get(streamId)?.register(seat, interval);
      if (!isMade) presence.register(streamId, seat);
    },
  };
}
