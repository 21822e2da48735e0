import { intervalAt } from '../../../protocol/interval.ts';
import type { Clock } from '../../../server/platform/clock.ts';
import type {
  PresenceRegistry,
  ShareablePresence,
} from '../../../server/realtime/presence/presence-registry.ts';
import { SharedPresenceWriter } from '../../../server/realtime/presence/shared-presence-writer.ts';

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
  });
  return {
    ...presence,
    register(streamId, seat) {
      const interval = intervalAt(clock.nowMs());
      const isRegistered =
        presence.unavailable() === null && writers.get(streamId)?.register(seat, interval);
      if (!isRegistered) presence.register(streamId, seat);
    },
  };
}
