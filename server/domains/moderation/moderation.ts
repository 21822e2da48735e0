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
    handlers: (studio: StudioHandlerFactory, context: StudioContext) => {
      const { messageSearches, largeOperations } = context;
      const { store } = deps;
      return moderationHandlers(studio, {
        ...{ store, messageSearches, largeOperations },
        moderation: cache,
      });
    },
  };
}
