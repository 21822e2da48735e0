import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { Sealer, TransientBuffer } from '../feed/sealer.ts';
import type { TransientSource } from '../feed/transient-source.ts';
import { createMemoryPresence } from '../presence/presence-rings.ts';
import { ViewCountEvents } from '../presence/view-count-events.ts';
import type { RealtimeBackend, RealtimeBackendOptions } from './realtime-backend.ts';

export interface MemoryRealtimeBackendOptions extends RealtimeBackendOptions {
  readonly source: TransientSource;
}

/** The realtime backend of a service that is one process. This process alone seals. */
export function createMemoryRealtimeBackend(
  options: MemoryRealtimeBackendOptions,
): RealtimeBackend {
  const { store, clock, logger, watermark, isArchived, onSealed, source } = options;
  const presence = createMemoryPresence({ clock, isArchived });
  const feed = new MemoryFeedLog(store, watermark);
  const transients = new TransientBuffer({
    source,
    counts: new ViewCountEvents(presence),
    activeStreams: (interval) => [...feed.activeStreams(interval)].filter((id) => !isArchived(id)),
  });
  const sealer = new Sealer({ clock, store, log: feed, logger, onSealed, transients });
  return {
    presence,
    feed,
    share: (threads) => {
      presence.share(threads);
      feed.share(threads);
    },
    markActive: (streamId) => feed.markActive(streamId),
    start: () => sealer.start(),
    seal: () => sealer.seal(),
    lagMs: () => sealer.lagMs(),
    load: () => feed.load(),
    unavailableReason: () => null,
    drain: () => feed.drain(),
    stop: () => sealer.stop(),
  };
}
