import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { RecentMessages, type RecentMessagesDeps } from '../chat/recent-messages.ts';
import { ingestHandlers, type StudioIngestRoutes } from './ingest-routes.ts';
import { ShownShows, type ShownShowsDeps } from './shown-shows.ts';
import { StreamDetailCache, type StreamDetailCacheOptions } from './stream-detail-cache.ts';
import { type StreamRoutes, streamHandlers } from './stream-routes.ts';
import { type StudioStreamRoutes, studioStreamHandlers } from './studio-stream-routes.ts';

export interface StreamDeps
  extends Omit<StreamDetailCacheOptions, 'store'>,
    Omit<StreamRoutes, 'store' | 'details' | 'recentMessages'>,
    Omit<RecentMessagesDeps, 'store'>,
    Omit<StudioStreamRoutes, 'store'>,
    Omit<StudioIngestRoutes, 'store'> {
  readonly studio: StudioHandlerFactory;
  readonly store: StreamDetailCacheOptions['store'] &
    RecentMessagesDeps['store'] &
    StreamRoutes['store'] &
    ShownShowsDeps['store'] &
    StudioStreamRoutes['store'] &
    StudioIngestRoutes['store'];
}

/** Streams: list and detail for viewers, and the studio API with ingest (SPEC S, P-7 … P-14, M-1). */
export function createStreams(deps: StreamDeps) {
  return {
    shows: new ShownShows({ store: deps.store, nowMs: () => deps.clock.nowMs() }),
    viewerHandlers: streamHandlers({
      ...deps,
      details: new StreamDetailCache(deps),
      recentMessages: new RecentMessages(deps),
    }),
    handlers: { ...studioStreamHandlers(deps.studio, deps), ...ingestHandlers(deps.studio, deps) },
  };
}
