import { createMemoryChat } from '../../domains/chat/chat-memory.ts';
import { createMemorySlowMode } from '../../domains/chat/slow-mode-memory.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { Sealer } from '../feed/sealer.ts';
import { TransientBuffer } from '../feed/transient-buffer.ts';
import { createMemoryPresence } from '../presence/presence-registry-memory.ts';
import { CountEvents } from '../presence/view-count-events.ts';
import type { RealtimeBackend, RealtimeBackendOptions } from './realtime-backend.ts';

/** The realtime backend of a service that is one process: all of it in memory, sealed by this process alone. */
export function createMemoryRealtimeBackend(options: RealtimeBackendOptions): RealtimeBackend {
  const { store, clock, logger, watermark, random, onSealed } = options;
  const presence = createMemoryPresence({ clock });
  const chat = createMemoryChat({ random });
  const feed = new MemoryFeedLog(store, watermark);
  const watched = (interval: number) => feed.watched(interval);
  const parts = new TransientBuffer({ chat, counts: new CountEvents(presence), watched });
  const sealer = new Sealer({ clock, store, log: feed, logger, onSealed, parts });
  return {
    presence,
    chat,
    turns: createMemorySlowMode(),
    feed,
    share: (threads) => {
      presence.share(threads);
      feed.share(threads);
    },
    noteRead: (streamId) => feed.noteRead(streamId),
    begin: () => sealer.begin(),
    seal: () => sealer.seal(),
    behindMs: () => sealer.behindMs(),
    load: () => feed.load(),
    unavailable: () => null,
    drain: () => feed.drain(),
    stop: () => sealer.stop(),
  };
}
