import type { StudioContext, StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { ModerationCache, type ModerationCacheOptions } from './moderation-cache.ts';
import { type ModerationRoutes, moderationHandlers } from './moderation-routes.ts';

export interface ModerationDeps extends Omit<ModerationCacheOptions, 'store'> {
  readonly store: ModerationCacheOptions['store'] & ModerationRoutes['store'];
}

/** Chat moderation (SPEC C). Resolves when the cache is filled, or when the database is unavailable. */
export async function createModeration(deps: ModerationDeps) {
  const cache = new ModerationCache(deps);
  await cache.refresh();
  return {
    cache,
    /** A function, because authentication needs the bans of the cache first. */
    handlers: (studio: StudioHandlerFactory, { messageSearches }: StudioContext) =>
      moderationHandlers(studio, { store: deps.store, moderation: cache, messageSearches }),
  };
}
