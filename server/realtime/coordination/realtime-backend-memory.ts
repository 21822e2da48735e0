import { createMemoryChat } from '../../domains/chat/chat-memory.ts';
import { createMemoryTurns } from '../../domains/chat/slow-mode-memory.ts';
import { MemoryFeedLog } from '../feed/feed-log-memory.ts';
import { Sealer } from '../feed/sealer.ts';
import { UnsealedParts } from '../feed/transient-buffer.ts';
import { createMemoryTally } from '../presence/presence-registry-memory.ts';
import { CountEvents } from '../presence/view-count-events.ts';
import type { Beat, BeatOptions } from './realtime-backend.ts';

/** The beat of a service that is one process: all of it in memory, sealed by this process alone. */
export function createMemoryBeat(options: BeatOptions): Beat {
  const { record, clock, logger, watermark, random, onSealed } = options;
  const tally = createMemoryTally({ clock });
  const chat = createMemoryChat({ random });
  const feed = new MemoryFeedLog(record, watermark);
  const watched = (interval: number) => feed.watched(interval);
  const parts = new UnsealedParts({ chat, counts: new CountEvents(tally), watched });
  const sealer = new Sealer({ clock, record, log: feed, logger, onSealed, parts });
  return {
    tally,
    chat,
    turns: createMemoryTurns(),
    feed,
    share: (threads) => {
      tally.share(threads);
      feed.share(threads);
    },
    noteRead: (streamId) => feed.noteRead(streamId),
    begin: () => sealer.begin(),
    seal: () => sealer.seal(),
    behindMs: () => sealer.behindMs(),
    load: () => feed.load(),
    away: () => null,
    drain: () => feed.drain(),
    stop: () => sealer.stop(),
  };
}
